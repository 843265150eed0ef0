static unsigned zero;
int main(void) {
    return 5u % zero; //~ VIOLATION: division
}

struct unknown;
int main(void) {
    struct unknown u; //~ ERROR: incomplete
    return 0;
}

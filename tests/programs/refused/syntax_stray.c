int main(void) {
    return 1 + ; //~ ERROR: expected
}

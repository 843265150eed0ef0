int main(void) {
    char *s = "constant";
    s[0] = 'C'; //~ VIOLATION: constant
    return 0;
}

int main(void) {
    const char *s = "abc; //~ ERROR: not closed
    return 0;
}

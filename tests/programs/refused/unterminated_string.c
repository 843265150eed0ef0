int main(void) {
    const char *s = "abc; //~ ERROR: quote
    return 0;
}

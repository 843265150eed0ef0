int main(void) {
    const char *s = "abc; //~ ERROR: "
    return 0;
}

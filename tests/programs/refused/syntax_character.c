int main(void) {
    int x = 3 @ 4; //~ ERROR: @
    return 0;
}

int main(void) {
    int x = 1 //~ ERROR: expected
    return x;
}

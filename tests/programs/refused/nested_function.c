int main(void) {
    int n = 1;
    int add(int x) { return x + n; } //~ ERROR: nested function
    return add(1);
}

static int choose(int *p) { return *p > 0; } //~ VIOLATION: uninitialised
int main(void) {
    int x[2];
    x[0] = 1;
    return choose(&x[1]);
}

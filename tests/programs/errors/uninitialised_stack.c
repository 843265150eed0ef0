static int choose(int *p) {
    if (*p > 0) //~ VIOLATION: uninitialised
        return 1;
    return 2;
}
int main(void) {
    int x[2];
    x[0] = 1;
    return choose(&x[1]);
}

int main(void) {
    int a[3], b[3];
    a = b; //~ ERROR: assign
    return 0;
}

static int table[3];
static int n = 3;
int main(void) {
    table[n] = 1; //~ VIOLATION: bounds
    return 0;
}

static int table[3];
static int n = -1;
int main(void) {
    return table[n]; //~ VIOLATION: bounds
}

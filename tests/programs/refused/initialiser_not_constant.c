static int f(void) { return 1; }
static int x = f(); //~ ERROR: constant
int main(void) { return x; }

int f(void) { return 1; }
int f(void) { return 2; } //~ ERROR: f
int main(void) { return f(); }

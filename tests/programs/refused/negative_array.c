int a[-1]; //~ ERROR: -1
int main(void) { return 0; }

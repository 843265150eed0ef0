int a[-1]; //~ ERROR: negative
int main(void) { return 0; }

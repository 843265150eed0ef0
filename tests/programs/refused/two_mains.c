//~ FILES: two_mains.c
int main(void) { return 0; } //~ ERROR: main

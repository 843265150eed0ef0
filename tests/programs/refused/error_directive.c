#error this platform is not supported //~ ERROR: this platform is not supported
int main(void) { return 0; }

extern int x;
double x; //~ ERROR: x
int main(void) { return 0; }

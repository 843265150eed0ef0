struct p { int x; };
struct p q = {.y = 1}; //~ ERROR: y
int main(void) { return 0; }

_Static_assert(sizeof(int) == 8, "int is too small"); //~ ERROR: int is too small
int main(void) { return 0; }

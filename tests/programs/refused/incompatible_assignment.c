struct s { int a; };
int main(void) {
    struct s x = {1};
    int n = 0;
    n = x; //~ ERROR: struct s
    return n;
}

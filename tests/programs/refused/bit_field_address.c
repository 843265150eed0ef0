struct s { int b : 3; };
int main(void) {
    struct s x = {1};
    int *p = &x.b; //~ ERROR: bit-field
    return *p;
}

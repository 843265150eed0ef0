typedef int v4 __attribute__((vector_size(16))); //~ ERROR: vector
int main(void) {
    v4 v = {1, 2, 3, 4};
    return v[0] - 1;
}

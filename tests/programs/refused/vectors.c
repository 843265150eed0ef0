typedef int v4 __attribute__((vector_size(16)));
int main(void) {
    v4 v = {1, 2, 3, 4}; //~ ERROR: vector
    return v[0] - 1;
}

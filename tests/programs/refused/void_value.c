static void nothing(void) {}
int main(void) {
    int x = nothing(); //~ ERROR: void
    return x;
}

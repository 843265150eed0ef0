static int one(int a) { return a; }
int main(void) {
    return one(1, 2); //~ ERROR: argument
}

int main(void) {
    double _Complex z = 1; //~ ERROR: _Complex
    return 0;
}

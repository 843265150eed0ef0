int main(void) {
    int count = 1;
    return cuont; //~ ERROR: cuont
}

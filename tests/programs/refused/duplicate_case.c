int main(int argc, char **argv) {
    switch (argc) {
    case 1: return 1;
    case 1: return 2; //~ ERROR: cases
    }
    return 0;
}

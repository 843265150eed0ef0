int main(int argc, char **argv) {
    switch (1) {
    case argc: return 1; //~ ERROR: constant
    }
    return 0;
}

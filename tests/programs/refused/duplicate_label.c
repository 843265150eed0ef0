int main(void) {
twice:
twice: //~ ERROR: twice
    return 0;
}

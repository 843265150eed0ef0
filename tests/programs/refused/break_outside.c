int main(void) {
    break; //~ ERROR: break
}

int main(void) {
    goto nowhere; //~ ERROR: nowhere
}

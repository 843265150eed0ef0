static int divide(int a, int b) {
    return a / b; //~ VIOLATION: division
}
int main(void) {
    return divide(1, 0);
}

// A call of reach_error is the violation, whatever its body says.
void reach_error(void) {}
int main(void) {
    int x = 1;
    if (x) reach_error(); //~ VIOLATION: reach_error
    return 0;
}

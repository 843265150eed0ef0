// Calling a function that was never declared, in C as it was: with a warning.
#include <stdio.h>

int main(void) {
    printf("%d\n", later(20, 2)); //~ WARN: later
    return 0;
}

int later(int a, int b) { return a * b + 2; }
//~ STDOUT: 42

// A `%n` after the last conversion is written. (That something is converted depends on the input.)
//~ PROPERTY: assert
//~ UNSAFE: n == -1
//~ UNKNOWN staged: depends on input
//~ UNKNOWN explore: depends on
#include <assert.h>
#include <stdio.h>

int main(void) {
    int d, n = -1;
    if (scanf("%d%n", &d, &n) == 1)
        assert(n == -1);
    return 0;
}

// If nothing is converted, nothing but the count before it is written.
//~ PROPERTY: assert
//~ SAFE
//~ UNKNOWN explore: depends on
#include <assert.h>
#include <stdio.h>

int main(void) {
    int d = 3, n = -1;
    if (scanf("%n%d", &n, &d) == 0)
        assert(d == 3);
    return 0;
}

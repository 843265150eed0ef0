// What was not looked for ends an execution: what comes after it is not known.
//~ PROPERTY: assert
//~ SAFE
//~ UNKNOWN -DBUG staged: ends in what was not looked for: access out of bounds
//~ UNKNOWN -DBUG explore: ends in what was not looked for: access out of bounds
#include <assert.h>

int a[4], i;

int main(void) {
#ifdef BUG
    i = 7;
#endif
    a[i] = 1;
    assert(i == 0);
    return 0;
}

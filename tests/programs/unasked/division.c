// A division by zero ends an execution before it leaks.
//~ NO-GCC: it has inputs
//~ PROPERTY: leak
//~ SAFE
//~ UNKNOWN -DBUG staged: ends in what was not looked for: division by zero
//~ UNKNOWN -DBUG explore: ends in what was not looked for: division by zero
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);

int main(void) {
    char *p = malloc(1);
    int n = 0;
    if (__VERIFIER_nondet_bool())
        free(p);
    else {
#ifdef BUG
        n = 1 / n;
#else
        free(p);
#endif
    }
    return n;
}

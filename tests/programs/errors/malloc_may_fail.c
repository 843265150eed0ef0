// With the option, an allocation may fail, and then the program must cope.
//~ FLAGS: --malloc-may-fail
//~ SEEDS: 30
#include <stdlib.h>
int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1; //~ VIOLATION: null
    free(p);
    return 0;
}

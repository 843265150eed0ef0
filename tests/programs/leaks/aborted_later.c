// A program that aborts has not come to its end, whatever it freed before.
//~ EXIT: 134
//~ PROPERTY: leak
//~ SAFE
//~ PROPERTY: memtrack
//~ SAFE
#include <stdlib.h>

int main(void) {
    free(malloc(8));
    free(malloc(8));
    malloc(8);
    abort();
}

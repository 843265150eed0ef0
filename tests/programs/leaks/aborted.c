// A program that aborts has not come to its end.
//~ EXIT: 134
//~ PROPERTY: leak
//~ SAFE
//~ PROPERTY: memtrack
//~ SAFE
#include <stdlib.h>

int main(void) {
    malloc(8);
    abort();
}

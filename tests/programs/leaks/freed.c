// What is freed is no leak.
//~ PROPERTY: leak
//~ SAFE
//~ PROPERTY: memtrack
//~ SAFE
#include <stdlib.h>

int main(void) {
    free(malloc(8));
    return 0;
}

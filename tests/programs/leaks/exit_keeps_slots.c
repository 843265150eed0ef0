// So is what it has in memory.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ SAFE
#include <stdlib.h>

int main(void) {
    void *n = malloc(16);
    void **p = &n;
    *p = n;
    exit(0);
}

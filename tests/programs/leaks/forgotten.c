// What is allocated and forgotten at once is lost.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ UNSAFE: lost memory
#include <stdlib.h>

int main(void) {
    malloc(8);
    return 0;
}

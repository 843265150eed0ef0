// A block that is reallocated keeps its contents, and must not be used at its old address.
//~ PROPERTY: assert,memsafety
//~ SAFE
//~ UNSAFE -DOLD: use after free
//~ UNSAFE -DSHARED: use after free
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int *block;

void *read_block(void *unused)
{
    int *mine = block;
    return mine[0] == 7 ? block : 0;
}

int main(void)
{
    block = malloc(2 * sizeof *block);
    if (!block)
        return 1;
    block[0] = 7;
    block[1] = 8;
    pthread_t thread;
    pthread_create(&thread, 0, read_block, 0);
#ifndef SHARED
    pthread_join(thread, 0);
#endif
    int *old = block;
    int *larger = realloc(block, 4 * sizeof *block);
    if (!larger)
        return 1;
    block = larger;
#ifdef OLD
    old[0] = 1;
#endif
    assert(block[0] == 7);
    assert(block[1] == 8);
#ifdef SHARED
    pthread_join(thread, 0);
#endif
    free(block);
    return old == 0;
}

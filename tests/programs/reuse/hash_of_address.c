// A number that was computed from an address outlives the object: a new one may have the same.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE -DLIVES
//~ UNKNOWN staged: may be the same
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static unsigned hash(void *address)
{
    return (unsigned)((uintptr_t)address * 0x9e3779b97f4a7c15u >> 40);
}

int main(void)
{
    char *p = malloc(8);
    unsigned before = hash(p);
#ifndef LIVES
    free(p);
#endif
    char *q = malloc(8);
    assert(before != hash(q)); //~ UNSAFE: assertion failed
    free(q);
#ifdef LIVES
    free(p);
#endif
    return 0;
}

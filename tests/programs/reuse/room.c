// A freed object's address goes to a new one that has room there: of 8 bytes, allocators set aside 24.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE -DSIZE=25
//~ UNKNOWN -DSIZE=25 staged: may be the same
//~ UNKNOWN -DSIZE=24 staged: may be the same
#ifndef SIZE
#define SIZE 25
#endif
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    char *p = malloc(8);
    free(p);
    char *q = malloc(SIZE);
    assert(p != q); //~ UNSAFE -DSIZE=24: assertion failed
    q[SIZE - 1] = 1;
    free(q);
    return 0;
}

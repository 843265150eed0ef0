// An allocation may return an address that was freed, or another one: neither can be counted on.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE -DEITHER
//~ UNKNOWN -DEITHER staged: may be the same
//~ UNKNOWN staged: may be the same
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    char *p = malloc(8);
    free(p);
    char *q = malloc(8);
#if defined EITHER
    int same = p == q;
    assert(same == 0 || same == 1);
#elif defined EQUAL
    assert(p == q); //~ UNSAFE -DEQUAL: assertion failed
#else
    assert(p != q); //~ UNSAFE: assertion failed
#endif
    free(q);
    return 0;
}

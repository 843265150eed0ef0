// More than half of the address space is never there, also if other allocations do not fail.
//~ SAFE
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    assert(!malloc(-1));
    assert(!malloc(1UL << 63));
    assert(!calloc(1UL << 33, 1UL << 33));
    assert(!calloc(1UL << 62, 2));
#ifdef BUG
    char *text = malloc(-1);
    *text = 0; //~ UNSAFE -DBUG: null
#endif
    return 0;
}

// An address just before an object (arrays that begin with 1) is kept when the object is freed: it may be one before the next
// object, too.
//~ SAFE
//~ UNSAFE -DBUG: assertion
//~ UNKNOWN -DBUG staged: addresses of freed objects
#include <assert.h>
#include <stdlib.h>

static int *kept;

int main(void)
{
    int *first = malloc(16);
    kept = first - 1;
    free(first);
    first = 0;
    int *second = malloc(16);
#ifdef BUG
    assert(kept + 1 != second);
#else
    assert(kept + 1 != 0 || second);
#endif
    free(second);
    return 0;
}

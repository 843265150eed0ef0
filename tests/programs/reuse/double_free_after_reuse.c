// Where the address is given out again, the second `free(p)` frees what q points to. Where it is not, it is a double
// free; and that is found, too.
//~ NO-GCC: what it does depends on the allocator
#include <stdlib.h>

static int is_same;

int main(void)
{
    char *p = malloc(8);
    free(p);
    char *q = malloc(8);
    is_same = p == q;
#ifdef BUG
    //~ UNKNOWN -DBUG staged: may be the same
    if (is_same) {
        free(p);
        *q = 1; //~ UNSAFE -DBUG: use after free
    }
#else
    free(p); //~ UNSAFE: double free
#endif
    return 0;
}

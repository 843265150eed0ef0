// `realloc` may leave an object where it is. Its model moves it always, which a SAFE says if the program could tell.
//~ SAFE
//~ NO-GCC: what it does depends on the allocator
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    char *p = calloc(1, 8);
    char *q = realloc(p, 16);
    assert(q != p);
    free(q);
    return 0;
}

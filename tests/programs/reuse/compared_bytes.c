// The bytes of an address that was freed, compared with those of a new one, which may be the same.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE
//~ UNKNOWN staged: compares addresses of freed objects
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int *stale;

int main(void) {
    int *object = malloc(4);
    stale = object;
    free(object);
    object = malloc(4);
    int differs = memcmp(&stale, &object, sizeof stale) != 0;
    assert(differs < 2);
    free(object);
    return 0;
}

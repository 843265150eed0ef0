// One freed address goes to one new object at a time; objects that live are never in each other's place.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE
//~ UNKNOWN staged: may be the same
//~ UNKNOWN -DBUG staged: may be the same
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *allocates(void *unused)
{
    (void)unused;
    return malloc(16);
}

int main(void)
{
    char *old = malloc(16);
    free(old);
    pthread_t first, second;
    void *p, *q;
    pthread_create(&first, 0, allocates, 0);
    pthread_create(&second, 0, allocates, 0);
    pthread_join(first, &p);
    pthread_join(second, &q);
#ifdef BUG
    assert(old != q); //~ UNSAFE -DBUG: assertion failed
#else
    assert(p != q);
    assert(!(old == p && old == q));
#endif
    free(p);
    free(q);
    return 0;
}

// Whether the address is there to be given out depends on which thread comes first.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE
//~ UNKNOWN staged: may be the same
//~ UNKNOWN -DBUG staged: may be the same
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *kept;
static atomic_int is_freed;

static void *frees(void *unused)
{
    (void)unused;
    atomic_store(&is_freed, 1);
    free(kept);
    return 0;
}

static void *allocates(void *unused)
{
    (void)unused;
    int *mine = malloc(sizeof *mine);
    *mine = 1;
#ifdef BUG
    assert(mine != kept); //~ UNSAFE -DBUG: assertion failed
#else
    if (mine == kept)
        assert(is_freed);
#endif
    return mine;
}

int main(void)
{
    kept = malloc(sizeof *kept);
    pthread_t first, second;
    pthread_create(&first, 0, frees, 0);
    pthread_create(&second, 0, allocates, 0);
    void *mine;
    pthread_join(first, 0);
    pthread_join(second, &mine);
    free(mine);
    return 0;
}

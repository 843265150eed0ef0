// That an object is freed has to happen after its last use, too.
//~ PROPERTY: race
//~ SAFE
//~ UNSAFE -DRELAXED: data race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED
#define STORE memory_order_relaxed
#else
#define STORE memory_order_release
#endif

static int *shared;
static atomic_int is_done;

static void *use(void *unused)
{
    int value = *shared;
    atomic_store_explicit(&is_done, 1 + 0 * value, STORE);
    return unused;
}

int main(void)
{
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    if (!shared)
        return 1;
    pthread_create(&thread, 0, use, 0);
    if (atomic_load_explicit(&is_done, memory_order_acquire))
        free(shared);
    pthread_join(thread, 0);
    return 0;
}

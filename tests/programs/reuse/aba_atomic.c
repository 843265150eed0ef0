// The same with a real compare-exchange of a pointer: that the top is the same does not say that nothing happened.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE -DKEPT
//~ UNKNOWN staged: may be the same
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) top;
static atomic_int changes;
static sem_t has_read, has_changed;

static void *reader(void *unused)
{
    (void)unused;
    int *before = atomic_load(&top);
    int count = atomic_load(&changes);
    sem_post(&has_read);
    sem_wait(&has_changed);
    if (atomic_compare_exchange_strong(&top, &before, 0))
        assert(atomic_load(&changes) == count); //~ UNSAFE: assertion failed
    return 0;
}

int main(void)
{
    sem_init(&has_read, 0, 0);
    sem_init(&has_changed, 0, 0);
    atomic_store(&top, malloc(4));
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    sem_wait(&has_read);
    int *old = atomic_load(&top);
#ifndef KEPT
    free(old);
#endif
    atomic_store(&top, malloc(4));
    atomic_store(&changes, 1);
    sem_post(&has_changed);
    pthread_join(thread, 0);
#ifdef KEPT
    free(old);
#endif
    free(atomic_load(&top));
    return 0;
}

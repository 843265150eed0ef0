// A lock made of an atomic flag: taking it has to acquire, giving it back to release.
//~ PROPERTY: race
//~ SAFE
//~ SAFE -DTAKE=memory_order_seq_cst -DGIVE=memory_order_seq_cst
//~ UNSAFE -DGIVE=memory_order_relaxed: data race
//~ UNSAFE -DTAKE=memory_order_relaxed: data race
#include <pthread.h>
#include <stdatomic.h>

#ifndef TAKE
#define TAKE memory_order_acquire
#endif
#ifndef GIVE
#define GIVE memory_order_release
#endif

static atomic_int lock;
static int counter;

static void *increment(void *unused)
{
    int expected = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &expected, 1, TAKE, memory_order_relaxed))
        expected = 0;
    counter++;
    atomic_store_explicit(&lock, 0, GIVE);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, increment, 0);
    increment(0);
    pthread_join(thread, 0);
    return counter != 2;
}

// A compare-exchange has one order if it succeeds, and another one if it fails.
//~ PROPERTY: race
//~ SAFE -DSUCCESS=memory_order_acquire -DFAILURE=memory_order_acquire
//~ SAFE -DSUCCESS=memory_order_relaxed -DFAILURE=memory_order_acquire
//~ UNSAFE -DSUCCESS=memory_order_acquire -DFAILURE=memory_order_relaxed: data race
#include <pthread.h>
#include <stdatomic.h>

#ifndef SUCCESS
#define SUCCESS memory_order_acquire
#define FAILURE memory_order_acquire
#endif

static int data;
static atomic_int ready;

static void *writer(void *unused)
{
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int expected = 0, seen = 0;
    pthread_create(&thread, 0, writer, 0);
    if (!atomic_compare_exchange_strong_explicit(&ready, &expected, 0, SUCCESS, FAILURE))
        seen = data;
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}

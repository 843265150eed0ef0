// What is read is that of sequential consistency, whatever the orders: the report says so.
//~ PROPERTY: assert
//~ SAFE
//~ NO-GCC: the machine is not sequentially consistent
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int first, second;

static void *one(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    first = atomic_load_explicit(&y, memory_order_relaxed);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    second = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(thread, 0);
    assert(first || second);
    return 0;
}

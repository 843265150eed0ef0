// A release sequence goes on with read-modify-writes of any thread and with stores of the thread that began it (C11,
// C17), and ends with a store of another thread.
//~ PROPERTY: race
//~ SAFE
//~ SAFE -DUPDATE
//~ UNSAFE -DSTORE: data race
//~ UNSAFE -DWITHOUT_HEAD: data race
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *writer(void *unused)
{
    data = 42;
#ifdef WITHOUT_HEAD
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&ready, 1, memory_order_release);
#endif
#if !defined UPDATE && !defined STORE
    atomic_store_explicit(&ready, 2, memory_order_relaxed);
#endif
    return unused;
}

static void *middle(void *unused)
{
#ifdef UPDATE
    int one = 1;
    atomic_compare_exchange_strong_explicit(&ready, &one, 2, memory_order_relaxed, memory_order_relaxed);
#endif
#ifdef STORE
    if (atomic_load_explicit(&ready, memory_order_relaxed) == 1)
        atomic_store_explicit(&ready, 2, memory_order_relaxed);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    int seen = 0;
    pthread_create(&threads[0], 0, writer, 0);
    pthread_create(&threads[1], 0, middle, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
        seen = data;
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return seen != 0 && seen != 42;
}

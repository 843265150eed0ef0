// Fences make relaxed accesses release and acquire; those for signal handlers order nothing between threads.
//~ PROPERTY: race
//~ SAFE
//~ SAFE -DRELEASE=memory_order_seq_cst -DACQUIRE=memory_order_seq_cst
//~ SAFE -DRELEASE=memory_order_acq_rel -DACQUIRE=memory_order_acq_rel
//~ UNSAFE -DFENCE=atomic_signal_fence: data race
//~ UNSAFE -DRELEASE=memory_order_acquire: data race
//~ UNSAFE -DACQUIRE=memory_order_release: data race
//~ UNSAFE -DLATE: data race
//~ HOLDS
//~ PREDICTED -DFENCE=atomic_signal_fence
//~ PREDICTED -DLATE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#ifndef FENCE
#define FENCE atomic_thread_fence
#endif
#ifndef RELEASE
#define RELEASE memory_order_release
#endif
#ifndef ACQUIRE
#define ACQUIRE memory_order_acquire
#endif

static int data;
static atomic_int ready;

static void *writer(void *unused)
{
    data = 42;
#ifndef LATE
    FENCE(RELEASE);
#endif
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#ifdef LATE
    FENCE(RELEASE);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, writer, 0);
    usleep(20000); // so that one run shows what may happen
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        FENCE(ACQUIRE);
        seen = data;
    }
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}

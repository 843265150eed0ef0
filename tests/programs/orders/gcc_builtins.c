// GCC's older builtins are full barriers, the newer ones take orders, and `volatile` is not atomic.
//~ PROPERTY: race
//~ SAFE
//~ SAFE -DORDERED=__ATOMIC_RELEASE
//~ UNSAFE -DORDERED=__ATOMIC_RELAXED: data race
//~ UNSAFE -DVOLATILE: data race
#include <pthread.h>

static int data;
static volatile int ready;

static void *writer(void *unused)
{
    data = 42;
#if defined VOLATILE
    ready = 1;
#elif defined ORDERED
    __atomic_store_n(&ready, 1, ORDERED);
#else
    __sync_fetch_and_add(&ready, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, writer, 0);
#if defined VOLATILE
    if (ready)
#elif defined ORDERED
    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
#else
    if (__sync_fetch_and_add(&ready, 0))
#endif
        seen = data;
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}

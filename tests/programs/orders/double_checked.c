// Initialised once, under a lock; the first look is without it.
//~ PROPERTY: race
//~ SAFE
//~ UNSAFE -DLOAD=memory_order_relaxed: data race
//~ UNSAFE -DSTORE=memory_order_relaxed: data race
#include <pthread.h>
#include <stdatomic.h>

#ifndef LOAD
#define LOAD memory_order_acquire
#endif
#ifndef STORE
#define STORE memory_order_release
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_ready;
static int value;

static int get(void)
{
    if (!atomic_load_explicit(&is_ready, LOAD)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load_explicit(&is_ready, memory_order_relaxed)) {
            value = 42;
            atomic_store_explicit(&is_ready, 1, STORE);
        }
        pthread_mutex_unlock(&mutex);
    }
    return value;
}

static void *user(void *unused)
{
    get();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, user, 0);
    get();
    pthread_join(thread, 0);
    return 0;
}

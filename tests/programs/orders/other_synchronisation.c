// Beside relaxed atomics, locks, semaphores, barriers and joins order accesses as ever.
//~ PROPERTY: race
//~ SAFE -DMUTEX
//~ SAFE -DSEMAPHORE
//~ SAFE -DBARRIER
//~ UNSAFE: data race
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int data;
static atomic_int ready;

static void *writer(void *unused)
{
#ifdef MUTEX
    pthread_mutex_lock(&mutex);
#endif
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#ifdef MUTEX
    pthread_mutex_unlock(&mutex);
#endif
#ifdef SEMAPHORE
    sem_post(&semaphore);
#endif
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    int seen = 0;
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, writer, 0);
#ifdef SEMAPHORE
    sem_wait(&semaphore);
#endif
#ifdef BARRIER
    pthread_barrier_wait(&barrier);
#endif
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
#ifdef MUTEX
        pthread_mutex_lock(&mutex);
#endif
        seen = data;
#ifdef MUTEX
        pthread_mutex_unlock(&mutex);
#endif
    }
    pthread_join(thread, 0);
    seen += data;
    return seen == 0;
}

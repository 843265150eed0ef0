// The mutex of a sleep, a mutex in the memory that threads share, one in the middle of another object.
//~ NO-REPLAY: the real library does not look at all of it either
//~ SAFE -DSLEEP
//~ UNSAFE -DSLEEP -DSMALL: out of bounds
//~ SAFE -DTHREADS
//~ UNSAFE -DTHREADS -DSMALL: out of bounds
//~ SAFE -DMOVED
//~ UNSAFE -DMOVED -DSMALL: out of bounds
#include <pthread.h>
#include <stdlib.h>

#ifdef SMALL
#define LESS 8
#else
#define LESS 0
#endif

struct {
    int before;
    pthread_mutex_t mutex;
} moved;

static void *user(void *argument)
{
    pthread_mutex_lock(argument);
    pthread_mutex_unlock(argument);
    return 0;
}

int main(void)
{
#if defined SLEEP
    char mutex[sizeof(pthread_mutex_t) - LESS];
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec long_ago = {0, 0};
    for (unsigned i = 0; i < sizeof mutex; i++)
        mutex[i] = 0;
#ifndef SMALL
    pthread_mutex_lock((pthread_mutex_t *)mutex);
#endif
    pthread_cond_timedwait(&condition, (pthread_mutex_t *)mutex, &long_ago);
#elif defined MOVED
    pthread_mutex_t *mutex = (pthread_mutex_t *)((char *)&moved.mutex + LESS);
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
#else
    pthread_t thread;
    void *mutex = calloc(1, sizeof(pthread_mutex_t) - LESS);
    pthread_create(&thread, 0, user, mutex);
    user(mutex);
    pthread_join(thread, 0);
    free(mutex);
#endif
    return 0;
}

// All of a synchronisation object must be there, not only what is looked at.
//~ NO-REPLAY: the real library does not look at all of it either
//~ SAFE -DMUTEX
//~ UNSAFE -DMUTEX -DLESS=1: out of bounds
//~ UNSAFE -DMUTEX -DLESS=16: out of bounds
//~ UNSAFE -DMUTEX -DLESS=32: out of bounds
//~ SAFE -DCONDITION
//~ UNSAFE -DCONDITION -DLESS=40: out of bounds
//~ UNSAFE -DCONDITION -DLESS=1: out of bounds
//~ SAFE -DSEMAPHORE
//~ UNSAFE -DSEMAPHORE -DLESS=24: out of bounds
//~ UNSAFE -DSEMAPHORE -DLESS=1: out of bounds
//~ SAFE -DREAD_WRITE
//~ UNSAFE -DREAD_WRITE -DLESS=48: out of bounds
//~ UNSAFE -DREAD_WRITE -DLESS=1: out of bounds
//~ SAFE -DBARRIER
//~ UNSAFE -DBARRIER -DLESS=1: out of bounds
//~ SAFE -DSPIN
//~ UNSAFE -DSPIN -DLESS=1: out of bounds
//~ SAFE -DATTRIBUTES
//~ UNSAFE -DATTRIBUTES -DLESS=1: out of bounds
//~ UNSAFE -DATTRIBUTES -DLESS=48: out of bounds
//~ SAFE -DREAD_WRITE_ATTRIBUTES
//~ UNSAFE -DREAD_WRITE_ATTRIBUTES -DLESS=1: out of bounds
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#ifndef LESS
#define LESS 0
#endif

int main(void)
{
#if defined CONDITION
    pthread_cond_t *object = malloc(sizeof *object - LESS);
    pthread_cond_init(object, 0);
    pthread_cond_signal(object);
#elif defined SEMAPHORE
    sem_t *object = malloc(sizeof *object - LESS);
    sem_init(object, 0, 1);
    sem_wait(object);
#elif defined READ_WRITE
    pthread_rwlock_t *object = malloc(sizeof *object - LESS);
    pthread_rwlock_init(object, 0);
    pthread_rwlock_rdlock(object);
    pthread_rwlock_unlock(object);
#elif defined BARRIER
    pthread_barrier_t *object = malloc(sizeof *object - LESS);
    pthread_barrier_init(object, 0, 1);
    pthread_barrier_wait(object);
#elif defined SPIN
    char *object = malloc(sizeof(pthread_spinlock_t) - LESS);
    pthread_spin_init((pthread_spinlock_t *)object, 0);
    pthread_spin_lock((pthread_spinlock_t *)object);
    pthread_spin_unlock((pthread_spinlock_t *)object);
#elif defined ATTRIBUTES
    pthread_attr_t *object = malloc(sizeof *object - LESS);
    pthread_attr_init(object);
    pthread_attr_destroy(object);
#elif defined READ_WRITE_ATTRIBUTES
    pthread_rwlockattr_t *object = malloc(sizeof *object - LESS);
    pthread_rwlockattr_init(object);
    pthread_rwlockattr_destroy(object);
#else
    pthread_mutex_t *object = malloc(sizeof *object - LESS);
    pthread_mutex_init(object, 0);
    pthread_mutex_lock(object);
    pthread_mutex_unlock(object);
#endif
    free(object);
    return 0;
}

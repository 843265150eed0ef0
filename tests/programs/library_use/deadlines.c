// The time that a function is given is read: it may race, be freed, null or uninitialised.
//~ SAFE
//~ UNSAFE -DBUG=1: data race
//~ UNSAFE -DBUG=2: use after free
//~ UNSAFE -DBUG=3: null dereference
//~ UNSAFE -DBUG=4: data race
//~ UNSAFE -DBUG=5: use after free
//~ UNSAFE -DBUG=6: data race
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static struct timespec when = {1, 0};

static void *writer(void *argument) {
#if BUG == 1 || BUG == 4 || BUG == 6
    when.tv_nsec = 5;
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    sem_init(&semaphore, 0, 1);
    struct timespec *deadline = malloc(sizeof *deadline);
    deadline->tv_sec = 1;
    deadline->tv_nsec = 0;
    pthread_create(&thread, 0, writer, 0);
#if BUG == 1
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &when);
    pthread_mutex_unlock(&mutex);
#elif BUG == 2
    free(deadline);
    nanosleep(deadline, 0);
#elif BUG == 3
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, 0);
#elif BUG == 4
    sem_timedwait(&semaphore, &when);
#elif BUG == 5
    free(deadline);
    pthread_mutex_lock(&mutex);
    pthread_mutex_timedlock(&mutex, deadline);
#elif BUG == 6
    clock_nanosleep(CLOCK_REALTIME, 0, &when, 0);
#else
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, deadline);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_timedlock(&mutex, deadline);
    pthread_mutex_unlock(&mutex);
    nanosleep(deadline, 0);
    sem_timedwait(&semaphore, deadline);
#endif
    pthread_join(thread, 0);
    return 0;
}

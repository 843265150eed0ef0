// A condition variable that was never initialised: whatever is done with it.
//~ NO-REPLAY: compiled code cannot tell
//~ SAFE -DSIGNAL
//~ UNSAFE -DSIGNAL -DUNMADE: uninitialised
//~ SAFE -DBROADCAST
//~ UNSAFE -DBROADCAST -DUNMADE: uninitialised
//~ SAFE -DDESTROY
//~ UNSAFE -DDESTROY -DUNMADE: uninitialised
//~ SAFE -DC11
//~ UNSAFE -DC11 -DUNMADE: uninitialised
//~ SAFE -DWAIT
//~ UNSAFE -DWAIT -DUNMADE: uninitialised
//~ SAFE -DSEMAPHORE
//~ UNSAFE -DSEMAPHORE -DUNMADE: uninitialised
//~ SAFE -DZEROS
//~ SAFE -DASSIGNED
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int go;
};

static void *signaller(void *argument)
{
    struct object *object = argument;
    pthread_mutex_lock(&object->mutex);
    object->go = 1;
    pthread_mutex_unlock(&object->mutex);
    pthread_cond_signal(&object->condition);
    return 0;
}

static void wait_for_it(struct object *object)
{
    pthread_t thread;
    pthread_mutex_init(&object->mutex, 0);
    object->go = 0;
    pthread_create(&thread, 0, signaller, object);
    pthread_mutex_lock(&object->mutex);
    while (!object->go)
        pthread_cond_wait(&object->condition, &object->mutex);
    pthread_mutex_unlock(&object->mutex);
    pthread_join(thread, 0);
}

int main(void)
{
#if defined C11
    cnd_t *condition = malloc(sizeof *condition);
#ifndef UNMADE
    cnd_init(condition);
#endif
    cnd_signal(condition);
    free(condition);
#elif defined SEMAPHORE
    sem_t *semaphore = malloc(sizeof *semaphore);
#ifndef UNMADE
    sem_init(semaphore, 0, 0);
#endif
    sem_destroy(semaphore);
    free(semaphore);
#elif defined WAIT
    struct object *object = malloc(sizeof *object);
#ifndef UNMADE
    pthread_cond_init(&object->condition, 0);
#endif
    wait_for_it(object);
    free(object);
#elif defined ZEROS
    struct object *object = calloc(1, sizeof *object);
    wait_for_it(object);
    free(object);
#elif defined ASSIGNED
    struct object *object = malloc(sizeof *object);
    object->condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    wait_for_it(object);
    free(object);
#else
    pthread_cond_t condition;
#ifndef UNMADE
    pthread_cond_init(&condition, 0);
#endif
#if defined SIGNAL
    pthread_cond_signal(&condition);
#elif defined BROADCAST
    pthread_cond_broadcast(&condition);
#else
    pthread_cond_destroy(&condition);
#endif
#endif
    return 0;
}

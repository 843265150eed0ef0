// A mutex that checks may be made so by its initialiser, without a call: a wait with one that is not held gives an error, and
// does not sleep. A copy of such a mutex is such a mutex.
//~ SAFE
//~ SAFE -DLOCAL
//~ SAFE -DAGAIN
//~ UNSAFE -DAGAIN -DBUG: assertion
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
#ifndef LOCAL
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#endif

#ifdef AGAIN
static void lock_again(void)
{
    pthread_mutex_t *copy = malloc(sizeof *copy);
    *copy = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_mutex_lock(copy);
#ifdef BUG
    assert(pthread_mutex_lock(copy) != EDEADLK);
#else
    assert(pthread_mutex_lock(copy) == EDEADLK);
#endif
    pthread_mutex_unlock(copy);
    free(copy);
}
#endif

int main(void)
{
#ifdef AGAIN
    lock_again();
    return 0;
#endif
#ifdef LOCAL
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
#endif
    struct timespec past = {0};
    assert(pthread_cond_timedwait(&condition, &mutex, &past) == EPERM);
    assert(pthread_mutex_unlock(&mutex) == EPERM);
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&condition, &mutex, &past);
    assert(result == ETIMEDOUT || result == 0);
#ifdef BUG
    assert(pthread_cond_timedwait(&condition, &mutex, &past) == EPERM); //~ UNSAFE -DBUG: assertion
#endif
    assert(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}

// A mutex that checks may be made so by its initialiser, without a call: a wait with one that is not held gives an error, and
// does not sleep.
//~ SAFE
//~ SAFE -DLOCAL
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
#ifndef LOCAL
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#endif

int main(void)
{
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
    assert(pthread_cond_wait(&condition, &mutex) == EPERM); //~ UNSAFE -DBUG: assertion
#endif
    assert(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}

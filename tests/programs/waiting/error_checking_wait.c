// A wait with an error-checking mutex that the thread does not hold is refused: the error is the result, and the thread neither sleeps nor
// takes the mutex.
//~ SAFE
//~ UNKNOWN staged: a thread sleeps on some paths only
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signaller(void *unused) {
    assert(pthread_mutex_lock(&lock) == 0);
    ready = 1;
    assert(pthread_cond_signal(&condition) == 0);
    assert(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);
    int result = pthread_cond_wait(&condition, &lock);
#ifdef BAD
    assert(result == 0); //~ UNSAFE -DBAD: assertion violated
#else
    assert(result == EPERM);
    assert(pthread_mutex_unlock(&lock) == EPERM);
#endif
    pthread_t thread;
    pthread_create(&thread, 0, signaller, 0);
    pthread_mutex_lock(&lock);
    while (!ready)
        assert(pthread_cond_wait(&condition, &lock) == 0);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}

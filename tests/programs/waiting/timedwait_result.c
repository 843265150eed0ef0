// A wait that gives up when time is up, and goes on waiting when it was woken for nothing.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;
static struct timespec soon;

static void *setter(void *argument) {
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    int result = 0;
    pthread_create(&thread, 0, setter, 0);
    pthread_mutex_lock(&mutex);
    while (!done && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&changed, &mutex, &soon);
    int is_done = done;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
#ifdef BUG
    assert(is_done); //~ UNSAFE -DBUG: assertion
#else
    assert(is_done || result == ETIMEDOUT);
#endif
    return 0;
}

// A wait with a deadline, in a loop: it never deadlocks by itself, and a round in which time was up changes nothing.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;
static struct timespec soon;

static void *setter(void *argument) {
#ifdef BUG
    pthread_mutex_lock(&guard);
#endif
    pthread_mutex_lock(&mutex); //~ UNSAFE -DBUG: deadlock
    done = 1;
    pthread_mutex_unlock(&mutex);
#ifdef BUG
    pthread_mutex_unlock(&guard);
#endif
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    pthread_create(&thread, 0, setter, 0);
    pthread_mutex_lock(&mutex);
#ifdef BUG
    pthread_mutex_lock(&guard); //~ UNSAFE -DBUG: deadlock
#endif
    while (!done)
        pthread_cond_timedwait(&changed, &mutex, &soon);
    pthread_mutex_unlock(&mutex);
#ifdef BUG
    pthread_mutex_unlock(&guard);
#endif
    pthread_join(thread, 0);
    return 0;
}

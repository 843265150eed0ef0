// Two locks in any order: whoever does not get the second one gives back the first, and tries again.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void lock_both(pthread_mutex_t *one, pthread_mutex_t *other) {
    for (;;) {
        pthread_mutex_lock(one); //~ UNSAFE -DBUG: deadlock
#ifdef BUG
        pthread_mutex_lock(other); //~ UNSAFE -DBUG: deadlock
        return;
#endif
        if (pthread_mutex_trylock(other) == 0)
            return;
        pthread_mutex_unlock(one);
        sched_yield();
    }
}

static void *forwards(void *argument) {
    lock_both(&first, &second);
    counter++;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return argument;
}

static void *backwards(void *argument) {
    lock_both(&second, &first);
    counter++;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return argument;
}

int main(void) { //~ SAFE
    pthread_t one, other;
    pthread_create(&one, 0, forwards, 0);
    pthread_create(&other, 0, backwards, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
    return 0;
}

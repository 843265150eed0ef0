// Functions that lock on their own, or for their callers.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

struct counter {
    pthread_mutex_t lock;
    int value;
} one = {PTHREAD_MUTEX_INITIALIZER, 0}, two = {PTHREAD_MUTEX_INITIALIZER, 0};

static void acquire(struct counter *counter) {
    pthread_mutex_lock(&counter->lock);
}

static void release(struct counter *counter) {
    pthread_mutex_unlock(&counter->lock);
}

static int increment(struct counter *counter, int is_locked) {
    if (!is_locked)
        acquire(counter);
    int value = ++counter->value;
    if (!is_locked)
        release(counter);
    return value;
}

static void *work(void *unused) {
    increment(&one, 0);
    acquire(&two);
    increment(&two, 1);
    increment(&two, 1);
    release(&two);
#ifdef BUG
    increment(&one, 1);
#else
    increment(&one, 0);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(one.value == 4 && two.value == 4);
    return 0;
}

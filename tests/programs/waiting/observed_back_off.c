// Whoever tries a lock once can see that others take it and give it back, as often as they do.
//~ PROPERTY: assert
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int entered;

static void lock_both(pthread_mutex_t *one, pthread_mutex_t *other) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(one);
        if (pthread_mutex_trylock(other) == 0) {
            entered = 1;
            pthread_mutex_unlock(other);
            pthread_mutex_unlock(one);
            return;
        }
        pthread_mutex_unlock(one);
    }
}

static void *forwards(void *argument) {
    lock_both(&first, &second);
    return argument;
}

static void *backwards(void *argument) {
    lock_both(&second, &first);
    return argument;
}

static int is_taken(void) {
    int failed = pthread_mutex_trylock(&first) != 0;
    if (!failed)
        pthread_mutex_unlock(&first);
    return failed;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, forwards, 0);
    pthread_create(&other, 0, backwards, 0);
    int before = is_taken(), after = is_taken();
    assert(!before || after || entered); //~ UNSAFE: assertion
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

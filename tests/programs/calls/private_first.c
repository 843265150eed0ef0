// The same access, first to a local object, then to a shared one: only the second one can be seen by others.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set(int *at, int to) {
    *at = to;
}

static void *work(void *unused) {
    int mine = 0;
    set(&mine, 1);
    set(&mine, 2);
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    set(&shared, mine);
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    set(&mine, 3);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared == 2);
    return 0;
}

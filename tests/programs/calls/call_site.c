// An assertion in a function that all call: it fails for one of the calls only.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

int x, y, stage;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add(int *at, int by) {
    pthread_mutex_lock(&lock);
    int now = *at + by;
    *at = now;
    pthread_mutex_unlock(&lock);
    assert(by + now < 17);
    return now;
}

static void *work(void *unused) {
    add(&x, 1);
    add(&y, 5);
    add(&x, 2);
    return unused;
}

static void *more(void *unused) {
    stage = 1;
    add(&x, 3);
    stage = 2;
#ifdef BUG
    add(&y, 6);
#else
    add(&y, 5);
#endif
    stage = 3;
    add(&x, 4);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, more, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return stage - 3;
}

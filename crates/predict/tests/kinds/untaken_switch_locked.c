// A case of a switch that the run did not go to, with a lock, a call and an atomic update.
//~ HOLDS: what follows a branch
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int count;
static int state;
static int next(int by) {
    pthread_mutex_lock(&m);
    state += by;
    int now = state;
    pthread_mutex_unlock(&m);
    return now;
}
static void *work(void *arg) {
    next(2);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    switch (next(1)) {
    case 1: break;
    case 3:
        atomic_fetch_add(&count, 1);
#ifdef BUG
        assert(next(1) + atomic_load(&count) != 5);
#else
        assert(next(1) + atomic_load(&count) == 5);
#endif
        break;
    default: abort();
    }
    pthread_join(t, 0);
    return 0;
}

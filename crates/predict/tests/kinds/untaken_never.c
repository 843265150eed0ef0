// A branch that goes the same way in all orders leaves out nothing.
//~ HOLDS: nothing left out
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    int v = x;
    pthread_mutex_unlock(&m);
#ifdef BUG
    enum { NEVER = 1 };
#else
    enum { NEVER = 2 };
#endif
    if (v == NEVER) {
        pthread_mutex_lock(&m);
        x += 4;
        assert(x < 4);
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, 0);
    return 0;
}

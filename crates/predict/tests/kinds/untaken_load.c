// On the way that the run did not go, a lock is taken and shared memory is read.
//~ HOLDS: what follows a branch
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static int limit = 3;
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
    enum { LEAST = 4 };
#else
    enum { LEAST = 5 };
#endif
    if (v == 1) {
        pthread_mutex_lock(&m);
        int again = x;
        pthread_mutex_unlock(&m);
        assert(again + limit < LEAST);
    }
    pthread_join(t, 0);
    return 0;
}

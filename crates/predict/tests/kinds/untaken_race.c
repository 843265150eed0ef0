// A race on a way that the run did not go.
//~ HOLDS: what follows a branch
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_mutex_unlock(&m);
#ifdef BUG
    y = 1;
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    int v = x;
    pthread_mutex_unlock(&m);
    if (v == 1) y = 2;
    pthread_join(t, 0);
    return y > 2;
}

// What comes after the branch, where both ways meet again, depends on it.
//~ HOLDS: what follows a branch
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
    int extra = 0;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    if (x == 1) extra = 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_mutex_lock(&m);
    x += extra;
    pthread_mutex_unlock(&m);
#ifdef BUG
    assert(x == 1);
#else
    assert(x == 1 || x == 2);
#endif
    return 0;
}

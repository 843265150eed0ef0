// What is done when a lock is not free.
//~ HOLDS: what follows a branch
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int busy;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
static pthread_mutex_t count = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    if (pthread_mutex_trylock(&m) == 0) {
        pthread_mutex_unlock(&m);
    } else {
        pthread_mutex_lock(&count);
        busy++;
#ifdef BUG
        assert(busy == 0);
#else
        assert(busy == 1);
#endif
        pthread_mutex_unlock(&count);
    }
    pthread_join(t, 0);
    return 0;
}

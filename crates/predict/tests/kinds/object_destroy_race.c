// ThreadSanitizer reports a race of the destruction with the lock.
//~ PROPERTY: race
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
#ifdef BUG
    pthread_mutex_destroy(&m);
    pthread_join(t, 0);
#else
    pthread_join(t, 0);
    pthread_mutex_destroy(&m);
#endif
    return 0;
}

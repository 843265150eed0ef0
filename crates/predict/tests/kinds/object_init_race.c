// ThreadSanitizer reports a race of the initialisation with the lock.
//~ PROPERTY: race
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
#ifdef BUG
    pthread_create(&t, 0, work, 0);
    pthread_mutex_init(&m, 0);
#else
    pthread_mutex_init(&m, 0);
    pthread_create(&t, 0, work, 0);
#endif
    pthread_join(t, 0);
    return 0;
}

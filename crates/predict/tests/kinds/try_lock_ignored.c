// Who does not look whether it has the lock does not have it. ThreadSanitizer saw nothing in eight runs.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    int tried = pthread_mutex_trylock(&m);
#ifdef BUG
    x++;
    if (tried == 0) pthread_mutex_unlock(&m);
#else
    if (tried == 0) {
        x++;
        pthread_mutex_unlock(&m);
    }
#endif
    pthread_join(t, 0);
    return 0;
}

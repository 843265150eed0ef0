//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char a[32], b[32];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    memcpy(a, b, sizeof a);
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    a[31] = 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

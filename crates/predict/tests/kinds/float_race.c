// A race behind a comparison of floats.
//~ PROPERTY: race
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static float x = 1;
static int y;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x = 2;
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
    float f = x;
    pthread_mutex_unlock(&m);
    if (f < 3) y = 2;
    pthread_join(t, 0);
    return 0;
}

//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static double x = 1.5;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x = x * 2;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    x = x + 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
#ifdef BUG
    assert(x == 4.0);
#else
    assert(x == 4.0 || x == 5.0);
#endif
    return 0;
}

// Another order divides by zero; the run does not.
//~ HOLDS
//~ PREDICTED -DBUG: division by zero
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int divisor = 1, result;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
#ifdef BUG
    divisor = 0;
#else
    divisor = 2;
#endif
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    result = 10 / divisor;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

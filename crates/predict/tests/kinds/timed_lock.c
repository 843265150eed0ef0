//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_create(&t, 0, work, 0);
    int result = pthread_mutex_timedlock(&m, &until);
#ifdef BUG
    assert(result == 0);
#else
    assert(result == 0 || result == 110);
#endif
    if (result == 0) pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

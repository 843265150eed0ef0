//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_barrier_t b;
static void *work(void *arg) {
    pthread_barrier_wait(&b);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, work, 0);
    int r = pthread_barrier_wait(&b);
#ifdef BUG
    assert(r == PTHREAD_BARRIER_SERIAL_THREAD);
#else
    assert(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
#endif
    pthread_join(t, 0);
    return 0;
}

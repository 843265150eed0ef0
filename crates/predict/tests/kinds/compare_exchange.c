//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
static atomic_int x;
static void *work(void *arg) {
    int zero = 0;
    atomic_compare_exchange_strong(&x, &zero, 1);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    int zero = 0;
    int done = atomic_compare_exchange_strong(&x, &zero, 2);
#ifdef BUG
    assert(done);
#else
    assert(done || zero == 1);
#endif
    pthread_join(t, 0);
    return 0;
}

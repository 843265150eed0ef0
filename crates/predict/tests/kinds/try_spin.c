//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_spinlock_t l;
static void *work(void *arg) {
    pthread_spin_lock(&l);
    pthread_spin_unlock(&l);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_spin_init(&l, 0);
    pthread_create(&t, 0, work, 0);
#ifndef BUG
    pthread_join(t, 0);
#endif
    assert(pthread_spin_trylock(&l) == 0);
    pthread_spin_unlock(&l);
#ifdef BUG
    pthread_join(t, 0);
#endif
    return 0;
}

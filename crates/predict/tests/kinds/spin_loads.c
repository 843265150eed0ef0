// A thread that waits in a loop goes round very often: that is one round, and a few.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <pthread.h>
#include <stdatomic.h>
#ifdef BUG
static volatile int go;
#else
static _Atomic int go;
#endif
static _Atomic int spins;
static void *work(void *arg) {
    while (!go) ;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    for (int i = 0; i < 20000; i++)
        if (spins) return 1;
    go = 1;
    pthread_join(t, 0);
    return 0;
}

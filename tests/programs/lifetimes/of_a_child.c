// The life of a variable of a thread ends while another one may look at it; a barrier decides.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DBUG: use of a dead local object
#include <pthread.h>

int *offered;
pthread_barrier_t ready, seen;

static void *offer(void *unused) {
    {
        int value = 3;
        offered = &value;
        pthread_barrier_wait(&ready);
#ifndef BUG
        pthread_barrier_wait(&seen);
#endif
    }
#ifdef BUG
    pthread_barrier_wait(&seen);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&ready, 0, 2);
    pthread_barrier_init(&seen, 0, 2);
    pthread_create(&thread, 0, offer, 0);
    pthread_barrier_wait(&ready);
    int value = *offered;
    pthread_barrier_wait(&seen);
    pthread_join(thread, 0);
    return value - 3;
}

// Nobody passes a barrier before everybody has arrived; one of them is told so.
//~ SEEDS: 20
//~ SAFE
//~ UNKNOWN explore: there are more than 20000 executions
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_barrier_t barrier;
static atomic_int arrived, serial;

static void *worker(void *arg) {
    for (int round = 1; round <= 3; round++) {
        arrived++;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
        assert(arrived >= round * 3);
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    printf("%d %d\n", arrived, serial);
    return pthread_barrier_destroy(&barrier);
}
//~ STDOUT: 9 3

//~ Assertion in main
#include <assert.h>
#include <pthread.h>
pthread_barrier_t barrier;
int before[3], sum, serial;
void *worker(void *at) {
    *(int *)at = 1;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
    int all = before[0] + before[1] + before[2];
    assert(all == 3);
    sum = sum + 1;
    return 0;
}
int main(void) {
    pthread_t t[2];
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, &before[i]);
    worker(&before[2]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(serial == 1);
    assert(sum == 3);
}

//~ Deadlock
#include <pthread.h>
pthread_barrier_t barrier;
void *worker(void *unused) { pthread_barrier_wait(&barrier); return 0; }
int main(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 3);
    pthread_create(&t, 0, worker, 0);
    worker(0);
    pthread_join(t, 0);
}

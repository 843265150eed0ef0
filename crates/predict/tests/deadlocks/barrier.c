//~ UNSAFE
/* One takes the lock to the barrier, and the other one may have to get it before he comes there. */
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int shared;
static void *keeper(void *unused) {
    usleep(400000);
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&barrier);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *other(void *unused) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&barrier);
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&one, 0, keeper, 0);
    pthread_create(&two, 0, other, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}

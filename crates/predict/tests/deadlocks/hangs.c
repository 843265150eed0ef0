//~ UNSAFE
/* The run itself ends in a deadlock: two locks, and a barrier that has both threads take their first one. */
#include <pthread.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static void *left(void *unused) {
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&other);
    return unused;
}
static void *right(void *unused) {
    pthread_mutex_lock(&other);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&one);
    return unused;
}
int main(void) {
    pthread_t first, second;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&first, 0, left, 0);
    pthread_create(&second, 0, right, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}

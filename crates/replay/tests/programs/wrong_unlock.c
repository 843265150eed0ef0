//~ InvalidUnlock
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int turn;
void *worker(void *unused) {
    if (turn) pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&lock);
    turn = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
}

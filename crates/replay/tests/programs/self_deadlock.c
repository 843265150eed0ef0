//~ Deadlock
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *twice(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, twice, 0);
    pthread_join(t, 0);
}

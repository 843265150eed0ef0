//~ HOLDS
/* Both steps are locked, and so is the increment, by an outer lock. */
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static int get(void) {
    pthread_mutex_lock(&mutex);
    int value = counter;
    pthread_mutex_unlock(&mutex);
    return value;
}
static void set(int value) {
    pthread_mutex_lock(&mutex);
    counter = value;
    pthread_mutex_unlock(&mutex);
}
static void *worker(void *unused) {
    pthread_mutex_lock(&outer);
    set(get() + 1);
    pthread_mutex_unlock(&outer);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return counter > 2;
}

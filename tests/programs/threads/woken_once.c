// Two threads produce and two consume, through a queue of one: a signal wakes one sleeper, and none is woken twice.
//~ NO-GCC: it may deadlock: a signal can wake a thread of the wrong kind
//~ PROPERTY: deadlock
//~ SAFE
//~ UNKNOWN explore: there are more than 20000 executions
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static int size;

static void *produce(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (size == 1)
            pthread_cond_wait(&full, &lock);
        pthread_cond_signal(&empty);
        size++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *consume(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        if (size == 0)
            pthread_cond_wait(&empty, &lock);
        pthread_cond_signal(&full);
        size--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? produce : consume, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}

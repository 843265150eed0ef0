// A one-place buffer: each value is passed on once, in order.
//~ SEEDS: 20
//~ SAFE
//~ UNKNOWN explore: there are more than 20000 executions
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied;
static int full, value;

static void *producer(void *arg) {
    for (int i = 1; i <= 5; i++) {
        pthread_mutex_lock(&lock);
        while (full) pthread_cond_wait(&emptied, &lock);
        value = i;
        full = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_cond_init(&emptied, NULL);
    pthread_create(&t, NULL, producer, NULL);
    for (int i = 1; i <= 5; i++) {
        pthread_mutex_lock(&lock);
        while (!full) pthread_cond_wait(&filled, &lock);
        assert(value == i);
        printf("%d ", value);
        full = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, NULL);
    puts("");
    return pthread_cond_destroy(&emptied);
}
//~ STDOUT: 1 2 3 4 5

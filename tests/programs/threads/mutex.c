// A mutex makes an increment of two steps indivisible, whatever the schedule.
//~ SEEDS: 20
//~ SAFE
//~ UNKNOWN explore: there are more than 20000 executions
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        int seen = counter;
        counter = seen + 1;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert(counter == 30);
    printf("%d\n", counter);
    pthread_mutex_destroy(&lock);
    return 0;
}
//~ STDOUT: 30

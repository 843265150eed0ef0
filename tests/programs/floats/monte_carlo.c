// Pi by throwing darts: how many of them hit is counted by all threads together.
//~ SAFE
//~ UNKNOWN explore: there are more than 20000 executions
//~ HOLDS
//~ UNSAFE -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THROWS 2
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *throw_darts(void *seed) {
    unsigned state = (unsigned)(long)seed;
    for (int i = 0; i < THROWS; i++) {
        double x = (double)rand_r(&state) / RAND_MAX, y = (double)rand_r(&state) / RAND_MAX;
        if (x * x + y * y <= 1.0) {
#ifndef BUG
            pthread_mutex_lock(&lock);
#endif
            hits++;
#ifndef BUG
            pthread_mutex_unlock(&lock);
#endif
        }
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, throw_darts, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    double pi = 4.0 * hits / (2 * THROWS);
    assert(pi >= 0 && pi <= 4);
    return 0;
}

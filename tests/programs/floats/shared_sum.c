// Two threads add to a double under a lock. Without it, one of the additions may get lost.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double total;

static void *add(void *amount) {
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    total += *(double *)amount;
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[2];
    double amounts[2] = {0.5, 0.25};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(total == 0.75);
    return 0;
}

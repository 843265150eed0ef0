// A sum of doubles depends on the order: 1 is lost beside 1e16. So what threads sum up is not the same in all schedules.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double total;

static void *add(void *amount) {
    pthread_mutex_lock(&lock);
    total += *(double *)amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    double amounts[3] = {1e16, 1.0, -1e16};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, add, &amounts[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
#ifdef BUG
    assert(total == 1.0);
#else
    assert(total == 1.0 || total == 0.0);
#endif
    return 0;
}

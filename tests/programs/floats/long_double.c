// `long double` has a fraction that is long enough: what is added to 1e18 is not lost.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

#ifdef BUG
typedef double number;
#else
typedef long double number;
#endif
static number total = 1e18;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *amount) {
    pthread_mutex_lock(&lock);
    total += *(number *)amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    number amounts[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(total - 1e18 == 3);
    return 0;
}

// With the option, a wait may return without a signal: `if` is not enough.
//~ FLAGS: --spurious-wakeups
//~ SEEDS: 100
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *setter(void *arg) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, setter, 0);
    pthread_mutex_lock(&m);
    if (!ready) pthread_cond_wait(&c, &m);
    assert(ready); //~ VIOLATION: assertion
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

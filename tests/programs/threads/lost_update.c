// `x++` is a load and a store: two threads can lose an increment, and some schedule shows it.
//~ SEEDS: 200
//~ UNSAFE: data race
#include <assert.h>
#include <pthread.h>

static int x;
static void *worker(void *arg) { x++; return arg; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 2); //~ VIOLATION: assertion
}

// Under sequential consistency one of the two threads sees the other's store.
//~ SEEDS: 100
//~ SAFE
//~ HOLDS
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r1, r2;
static void *first(void *arg) { x = 1; r1 = y; return arg; }
static void *second(void *arg) { y = 1; r2 = x; return arg; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(r1 + r2 >= 1);
    return 0;
}

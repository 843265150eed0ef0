// Between __VERIFIER_atomic_begin and _end, and in __VERIFIER_atomic_* functions, nobody else runs.
//~ SEEDS: 50
//~ NO-GCC: the functions exist only for verifiers
//~ SAFE
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static int x, y;
static void __VERIFIER_atomic_bump(void) { y++; x--; x++; }

static void *worker(void *arg) {
    for (int i = 0; i < 4; i++) {
        __VERIFIER_atomic_begin();
        x++;
        __VERIFIER_atomic_end();
        __VERIFIER_atomic_bump();
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(x == 8 && y == 8);
    return 0;
}

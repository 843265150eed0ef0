// The value that the last thread chooses must be tried in both orders of the writes.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int g0, g1;

static void *t1(void *argument) {
    g0 = __VERIFIER_nondet_bool();
    return 0;
}

static void *t0(void *argument) {
    g1 = 0;
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    g1 = 0;
    return 0;
}

// What a section will touch must be known to see that it was explored already.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int g0, g2;

static void *t1(void *argument) {
    __VERIFIER_atomic_begin();
    g0 = 0;
    __VERIFIER_atomic_end();
    return 0;
}

static void *t0(void *argument) {
    g2 = 0;
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    g2 = g0;
    return 0;
}

// Only with one of the values does the section touch what the others touch.
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int g0;

static void *t1(void *argument) {
    g0 = 0;
    return 0;
}

static void *t0(void *argument) {
    __VERIFIER_atomic_begin();
    if (__VERIFIER_nondet_bool()) g0 = 0;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    return 0;
}

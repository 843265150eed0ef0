// A choice that sleeps with one value does not stand for the other.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int g0, g2;

static void *t2(void *argument) {
    if (!g2) reach_error();
    return 0;
}

static void *t1(void *argument) {
    g0 = 0;
    g0 = 0;
    return 0;
}

static void *t0(void *argument) {
    g0 = 0;
    if (__VERIFIER_nondet_bool()) {
    }
    return 0;
}

int main(void) {
    pthread_t h[3];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    pthread_create(&h[2], 0, t2, 0);
    g2 = 0;
    return 0;
}

// Nobody sees x = 1: the section goes wrong, or is not assumed to happen, or ends the process.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int x, y, z;

static void *fails(void *argument) {
    __VERIFIER_atomic_begin();
    x = 1;
    if (y != 7) reach_error();
    x = 0;
    __VERIFIER_atomic_end();
    return 0;
}

static void *assumes(void *argument) {
    __VERIFIER_atomic_begin();
    z = 1;
    __VERIFIER_assume(y == 7);
    z = 0;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, fails, 0);
    pthread_create(&h[1], 0, assumes, 0);
    __VERIFIER_atomic_begin();
    if (x || z) reach_error();
    __VERIFIER_atomic_end();
    return 0;
}

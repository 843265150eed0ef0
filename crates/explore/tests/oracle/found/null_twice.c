// Both go through a null pointer: an error of each, but no race.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static void *t0(void *argument) {
    *(int *)argument = 0;
    return 0;
}

int main(void) {
    pthread_t h[2];
    for (int k = 0; k < 2; k++)
        pthread_create(&h[k], 0, t0, 0);
    return 0;
}

// The variable of main is gone when main has returned, although the process has not ended yet.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static void *t0(void *argument) {
    if (!*(int *)argument) reach_error();
    return 0;
}

int main(void) {
    int r0 = 0;
    pthread_t h;
    pthread_create(&h, 0, t0, &r0);
    return 0;
}

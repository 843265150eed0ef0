// Of two who join the same thread, either may be the first.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

pthread_t kept;

static void *t1(void *argument) {
    return 0;
}

static void *t0(void *argument) {
    pthread_create(&kept, 0, t1, 0);
    pthread_join(kept, 0);
    return 0;
}

int main(void) {
    pthread_t h;
    pthread_create(&h, 0, t0, 0);
    pthread_join(kept, 0);
    return 0;
}

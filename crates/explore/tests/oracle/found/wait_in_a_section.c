// Whether a thread that waits in its section began to wait before or after others stepped makes no difference.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

pthread_barrier_t barrier;

static void *t0(void *argument) {
    __VERIFIER_atomic_begin();
    pthread_barrier_wait(&barrier);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t h;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&h, 0, t0, 0);
    pthread_detach(h);
    return 0;
}

// An unlock by somebody who does not hold the lock sets nobody free.
#include <pthread.h>
#include <semaphore.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

pthread_mutex_t m;

static void *t1(void *argument) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *t0(void *argument) {
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    return 0;
}

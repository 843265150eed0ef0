// A section that has to wait ends where it waits: it may begin before the lock is given back.
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

pthread_mutex_t m;

static void *t1(void *argument) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *t0(void *argument) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    return 0;
}

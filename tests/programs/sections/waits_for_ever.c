// A section may wait for ever.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: deadlock
//~ UNSAFE: deadlock
#include <pthread.h>
#include <semaphore.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static sem_t go;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    sem_wait(&go);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    return 0;
}

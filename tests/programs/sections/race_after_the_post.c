// What comes after a post may race with what comes after its wait.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ UNSAFE: data race
#include <pthread.h>
#include <semaphore.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static sem_t go;
static int plain;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    sem_wait(&go);
    plain = 1;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, 0, other, 0);
    sem_post(&go);
    plain = 2;
    return 0;
}

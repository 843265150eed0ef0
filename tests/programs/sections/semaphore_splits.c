// A section that has to wait for a semaphore is split there.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ UNSAFE: assertion violated
#include <pthread.h>
#include <semaphore.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static sem_t go;
static _Atomic int x, y;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    sem_wait(&go);
    x = 2;
    y = 2;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    pthread_create(&thread, 0, other, 0);
    if (x == 1) reach_error();
    return 0;
}

// A section may race with its access to what it then frees.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ UNSAFE: data race
#include <pthread.h>
#include <stdlib.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int *p;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    *p = 1;
    free(p);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    p = malloc(sizeof *p);
    pthread_create(&thread, 0, other, 0);
    *p = 2;
    return 0;
}

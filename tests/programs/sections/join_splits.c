// A section that waits for the end of a thread is split there.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ UNSAFE: assertion violated
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static _Atomic int x;

static void *other(void *unused) {
    if (x == 1) reach_error();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_join(thread, 0);
    x = 2;
    __VERIFIER_atomic_end();
    return 0;
}

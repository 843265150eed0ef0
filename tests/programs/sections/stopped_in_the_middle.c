// A section that is stopped by a false assumption shows nothing of what it did.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ SAFE
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static _Atomic int x;
static int plain;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    __VERIFIER_assume(plain);
    x = 2;
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    plain = 0;
    if (x == 1) reach_error();
    return 0;
}

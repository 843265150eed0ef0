// An access may race although a false assumption comes after it.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ UNSAFE: data race
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);

static int plain;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(plain);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    plain = 0;
    return 0;
}

// A thread that is created in a section runs when the section is over, and sees what was stored in it after the creation.
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
    __VERIFIER_atomic_begin();
    pthread_create(&thread, 0, other, 0);
    x = 1;
    __VERIFIER_atomic_end();
    return 0;
}

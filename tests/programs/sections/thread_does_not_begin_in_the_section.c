// A thread that is created in a section does not see what the section stores and takes back.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ SAFE
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
    x = 0;
    __VERIFIER_atomic_end();
    return 0;
}

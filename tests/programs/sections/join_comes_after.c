// What a section does after it has waited for a thread, the thread does not see.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ SAFE
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static _Atomic int x;

static void *other(void *unused) {
    if (x == 2) reach_error();
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

// The section that races is not the one that its thread has just left.
//~ NO-REPLAY: the real program leaves the section before the race
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ UNSAFE: data race
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static struct pair { int first, second; } one, two;
static _Atomic int x;

static void *other(void *unused) {
    two = one;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    __VERIFIER_atomic_begin();
    x++;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    two.first = two.second;
    __VERIFIER_atomic_end();
    return 0;
}

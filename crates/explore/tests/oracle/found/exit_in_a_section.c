// What goes wrong before an exit that is inside of a section is found, and what would go wrong after it is not.
#include <pthread.h>
#include <stdlib.h>

void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int x, y;

static void *leaves(void *argument) {
    __VERIFIER_atomic_begin();
    x = 1;
    exit(0);
    __VERIFIER_atomic_end();
    return 0;
}

static void *fails(void *argument) {
    __VERIFIER_atomic_begin();
    if (!x) y = 1;
    if (x) reach_error();
    if (y) reach_error();
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t h[2];
    pthread_create(&h[0], 0, leaves, 0);
    pthread_create(&h[1], 0, fails, 0);
    pthread_join(h[1], 0);
    return 0;
}

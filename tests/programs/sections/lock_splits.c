// A section that has to wait for a lock is split there.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: assert
//~ UNSAFE: assertion violated
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void reach_error(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int x, y;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_mutex_lock(&lock);
    x = 2;
    y = 2;
    pthread_mutex_unlock(&lock);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&lock);
    if (x == 1) reach_error();
    pthread_mutex_unlock(&lock);
    return 0;
}

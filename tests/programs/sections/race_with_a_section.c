// An access of a section may race, for all its locks.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ UNSAFE: data race
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int plain;

static void *other(void *unused) {
    __VERIFIER_atomic_begin();
    pthread_mutex_lock(&lock);
    plain = 1;
    pthread_mutex_unlock(&lock);
    __VERIFIER_atomic_end();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    plain = 2;
    return 0;
}

// Accesses under one lock do not race, in a section and outside.
//~ NO-GCC: atomic sections exist only for verifiers
//~ PROPERTY: race
//~ SAFE
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
    pthread_mutex_lock(&lock);
    plain = 2;
    pthread_mutex_unlock(&lock);
    return 0;
}

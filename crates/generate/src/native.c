/* What generated programs call, on the real machine. Inputs come from SEED, one stream for each thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t section = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned long threads;
static __thread unsigned long state;

static unsigned long next(void) {
    if (!state) {
        const char *seed = getenv("SEED");
        unsigned long number = __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST);
        state = (seed ? strtoul(seed, 0, 10) : 0) * 1000003 + number * 7919 + 1;
    }
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return state >> 33;
}

void reach_error(void) { abort(); }
_Bool __VERIFIER_nondet_bool(void) { return next() & 1; }
char __VERIFIER_nondet_char(void) { return next() % 3; }
void __VERIFIER_assume(int condition) { if (!condition) _Exit(0); }
void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&section); }
void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&section); }

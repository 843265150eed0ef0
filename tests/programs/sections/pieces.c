// A section that reads what it wrote in pieces of another size.
//~ NO-GCC: atomic sections exist only for verifiers
#include <assert.h>
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

static union {
    long whole;
    int halves[2];
    char bytes[8];
} shared;
static int seen;

static void *writer(void *argument) {
    __VERIFIER_atomic_begin();
    shared.halves[0] = 1;
    shared.bytes[1] = 2;
    long read = shared.whole;
    shared.whole = read + (1L << 32);
    seen = shared.halves[1];
    __VERIFIER_atomic_end();
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    __VERIFIER_atomic_begin();
    long value = shared.whole;
    __VERIFIER_atomic_end();
#ifdef BUG
    assert(value == 0 || value == 0x100000001); //~ UNSAFE -DBUG: assertion
#else
    assert(value == 0 || value == 0x100000201);
#endif
    pthread_join(thread, 0);
    assert(seen == 1);
    return 0;
}

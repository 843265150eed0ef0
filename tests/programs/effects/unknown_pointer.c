// A library function writes through a pointer that may be one of two: the write is not missed.
//~ NO-GCC: it has inputs
//~ PROPERTY: assert
//~ UNSAFE: n == 7
#include <assert.h>
#include <math.h>

extern _Bool __VERIFIER_nondet_bool(void);

int main(void) {
    int n = 7, m = 7;
    frexp(8.0, __VERIFIER_nondet_bool() ? &n : &m);
    assert(n == 7);
    return 0;
}

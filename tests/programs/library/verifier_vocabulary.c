// The words of software verification competitions, where they do not need a verifier.
//~ NO-GCC: the functions exist only for verifiers
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void reach_error(void) { }
void __VERIFIER_assert(int cond) { if (!cond) { reach_error(); abort(); } }

static int x;
void __VERIFIER_atomic_increment(void) { x++; }

int main(void) {
    int n = __VERIFIER_nondet_int();
    unsigned char c = __VERIFIER_nondet_uchar();
    __VERIFIER_atomic_begin();
    x = 1;
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_increment();
    __VERIFIER_assert(x == 2);
    __VERIFIER_assert(c <= 255);
    __VERIFIER_assert(__VERIFIER_nondet_bool() <= 1);
    __VERIFIER_assume(1);
    return n != n;
}

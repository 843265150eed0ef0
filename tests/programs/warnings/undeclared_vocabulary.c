// The words of verifiers need no declaration; what returns something else than an int does.
//~ NO-GCC: it does not know these words

int main(void)
{
    int x = 3;
    __ESBMC_assume(x > 1);
    __VERIFIER_atomic_begin();
    x = x + nondet_int() * 0;
    __VERIFIER_atomic_end();
    assert(x == 3);
    long wide = __VERIFIER_nondet_long(); //~ WARN: __VERIFIER_nondet_long
    return wide != wide;
}

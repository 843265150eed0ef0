// The least number divided by -1 does not fit, and the processor traps, as on a division by zero.
//~ SAFE
//~ NO-GCC: the result is undefined where it is a violation
#include <limits.h>

_Bool __VERIFIER_nondet_bool(void);

int main(void) {
    int dividend = __VERIFIER_nondet_bool() ? INT_MIN : 7, divisor = __VERIFIER_nondet_bool() ? -1 : 1;
#if defined BAD
    return dividend / divisor > 5; //~ UNSAFE -DBAD: quotient that does not fit
#elif defined REST
    return dividend % divisor > 5; //~ UNSAFE -DREST: quotient that does not fit
#else
    if (divisor == -1 && dividend == INT_MIN)
        return 0;
    short small = (short)dividend;
    return dividend / divisor > 5 || small / divisor > 5 || dividend % divisor > 5;
#endif
}

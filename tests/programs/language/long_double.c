// `long double` is the 80-bit format of the x87.
#include <float.h>
#include <math.h>
#include <stdio.h>

static long double half(long double v) { return v / 2; }

int main(void) {
    long double third = 1.0L / 3;
    printf("%.20Lf %.10Lg\n", third, third * 3);
    printf("%zu %d\n", sizeof third, LDBL_MANT_DIG);
    printf("%d\n", (double)third == 1.0 / 3);
    printf("%d\n", third == 1.0 / 3);
    printf("%Lg\n", half(5));
    unsigned long long big = 0xffffffffffffffffULL;
    long double exact = big;
    printf("%d %llu\n", (unsigned long long)exact == big, (unsigned long long)(exact - 1));
    printf("%d\n", (double)big == exact);
    printf("%d %d\n", LDBL_MAX > DBL_MAX, LDBL_MAX * 2 == INFINITY);
    struct { char c; long double v; } s = {1, -2.5L};
    printf("%zu %.1Lf %d\n", sizeof s, s.v, (int)s.v);
    long double sum = 0;
    for (int i = 0; i < 10; i++) sum += 0.1L;
    printf("%d %.18Lf\n", sum == 1, sum);
    printf("%.15Le %LF\n", 123456.789L, 0x1.8p3L);
    return 0;
}
//~ STDOUT: 0.33333333333333333334 1
//~ STDOUT: 16 64
//~ STDOUT: 1
//~ STDOUT: 0
//~ STDOUT: 2.5
//~ STDOUT: 1 18446744073709551614
//~ STDOUT: 0
//~ STDOUT: 1 1
//~ STDOUT: 32 -2.5 -2
//~ STDOUT: 0 1.000000000000000000
//~ STDOUT: 1.234567890000000e+05 12.000000

// Between integers and floats of all sizes, rounding and special values.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

int main(void) {
    printf("%d %d %d\n", (int)3.99, (int)-3.99, (int)0.5f);
    printf("%u %lld %llu\n", (unsigned)4e9, (long long)-1e18, (unsigned long long)1.8e19);
    printf("%.1f %.1f\n", (double)INT_MIN, (double)UINT_MAX);
    printf("%.1f %.1f\n", (double)LLONG_MAX, (double)ULLONG_MAX);
    printf("%.1f %.1f\n", (float)16777217, (float)ULLONG_MAX);
    printf("%d %d\n", (float)0.1 == 0.1, (double)0.1f == 0.1f);
    printf("%.9g %.17g\n", 0.1f, 0.1);
    float f = 1e30f;
    printf("%g %g %g\n", f * f, -(f * f), f * f - f * f != f * f - f * f ? 1.0 : 0.0);
    double zero = 0.0;
    printf("%g %g %d\n", 1 / zero, -1 / zero, zero == -zero);
    printf("%d %d %d\n", isnan(zero / zero), isinf(1 / zero), signbit(-zero) != 0);
    double nan = zero / zero;
    printf("%d %d %d %d\n", nan < 1, nan > 1, nan == nan, nan != nan);
    printf("%d %d\n", !nan, nan ? 1 : 0);
    unsigned char c = 200.7;
    short s = -300.2f;
    _Bool b = 0.1;
    printf("%d %d %d\n", c, s, b);
    int i = 7;
    i *= 1.5;
    i -= 0.5f;
    c += 0.9;
    printf("%d %d\n", i, c);
    float acc = 0;
    for (int k = 0; k < 100; k++) acc += 0.1f;
    printf("%.6f %d\n", acc, FLT_EVAL_METHOD);
    printf("%a %a\n", 1.0, 0x1.fffffep127);
    printf("%g %g\n", DBL_MIN / 4, FLT_MIN / 4);
    printf("%.1f\n", (double)(float)1e-50);
    printf("%d\n", (1 ? 1 : 2.0) / 2 == 0.5);
    return 0;
}

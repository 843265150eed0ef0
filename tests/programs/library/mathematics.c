// The functions of math.h that programs use most.
#include <math.h>
#include <stdio.h>

int main(void) {
    printf("%.6f %.6f %.6f\n", sqrt(2), fabs(-1.5), pow(2, 10));
    printf("%.1f %.1f %.1f %.1f\n", floor(-2.5), ceil(-2.5), trunc(-2.5), round(-2.5));
    printf("%.6f %.6f %.6f\n", sin(1), cos(1), atan2(1, 2));
    printf("%.6f %.6f %.6f\n", exp(1), log(10), log10(1000));
    printf("%.3f %.1f %.1f\n", fmod(7.5, 2), fmax(1, 2), fmin(1, 2));
    printf("%.1f %.1f\n", sqrtf(9), floorf(1.7f));
    printf("%ld %ld\n", lround(2.5), lrint(2.5));
    int e;
    double m = frexp(10, &e);
    printf("%.4f %d %.1f\n", m, e, ldexp(0.5, 4));
    double whole, part = modf(3.75, &whole);
    printf("%.2f %.1f\n", part, whole);
    printf("%d %d\n", isnan(sqrt(-1)) != 0, copysign(1, -0.0) < 0);
    printf("%.1f %.3f\n", cbrt(27), hypot(3, 4));
    return 0;
}
//~ STDOUT: 1.414214 1.500000 1024.000000
//~ STDOUT: -3.0 -2.0 -2.0 -3.0
//~ STDOUT: 0.841471 0.540302 0.463648
//~ STDOUT: 2.718282 2.302585 3.000000
//~ STDOUT: 1.500 2.0 1.0
//~ STDOUT: 3.0 1.0
//~ STDOUT: 3 2
//~ STDOUT: 0.6250 4 8.0
//~ STDOUT: 0.75 3.0
//~ STDOUT: 1 1
//~ STDOUT: 3.0 5.000

// Floating conversions of printf.
#include <math.h>
#include <stdio.h>

int main(void) {
    double values[] = {0, 1, -1.5, 3.14159265358979, 1e10, 1e-10, 123456789.125, 0.1, 1e100, 2.5, 3.5, 999999.5};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        double v = values[i];
        printf("[%f][%.2f][%e][%g][%.0f][%10.3f][%-10.1e][%G]\n", v, v, v, v, v, v, v, v);
    }
    printf("[%+.1f][% .1f][%08.2f][%#.0f][%#g]\n", 1.0, 1.0, -3.14159, 5.0, 1.0);
    printf("[%f][%F][%e][%5.1f]\n", INFINITY, -INFINITY, NAN, INFINITY);
    printf("[%.15g][%.17g][%.20f]\n", 0.1, 0.1, 0.1);
    printf("[%a][%.2a][%A]\n", 1.5, 3.14159, 0.0);
    printf("[%.3g][%.3g][%.3g][%g]\n", 1234.5, 0.00012345, 0.000012345, 1e15);
    printf("[%.*f][%*.*f]\n", 2, 2.345, 9, 3, 2.3456);
    printf("[%Lf][%.3Le]\n", 1.25L, 1e300L * 1e300L);
    printf("[%f]\n", (double)0.1f);
    printf("[%.1f][%.1f][%.1f]\n", 0.25, 0.35, -0.05);
    printf("[%g][%g]\n", 100000.0, 1000000.0);
    return 0;
}

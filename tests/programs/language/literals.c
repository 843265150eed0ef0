// Integer and floating constants in every spelling.
#include <stdio.h>

int main(void) {
    printf("%d %d %d %d\n", 0x1F, 017, 0b1011, 0);
    printf("%u %lu %lld %llu\n", 1u, 2UL, 3ll, 4uLL);
    printf("%zu %zu %zu\n", sizeof 1, sizeof 1L, sizeof 4294967296);
    printf("%zu %zu\n", sizeof 0xffffffff, sizeof 0x100000000);
    printf("%g %g %g %g\n", 1e3, .5, 5., 1E-2);
    printf("%g %g %zu %zu\n", 1.5f, 0x1.8p1, sizeof 1.f, sizeof 1.0);
    printf("%g %g\n", 0x10p-2, 0xAp0);
    printf("%llu\n", 18446744073709551615ULL);
    printf("%d %d %d\n", '\0', '\'', '"');
    printf("%d %d %d\n", '\a', '\v', '\x7f');
    printf("%.20g\n", 0.1);
    printf("%.17g %.17g\n", 123456789012345678.0, 4.9406564584124654e-324);
    printf("%.17g %.9g\n", 2.2250738585072011e-308, 16777217.0f);
    printf("%g %g\n", 1e400 > 1e308 ? 1.0 : 0.0, 1e-400);
    return 0;
}

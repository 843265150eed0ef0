// Promotions and the usual arithmetic conversions, where they surprise.
#include <limits.h>
#include <stdio.h>

int main(void) {
    unsigned char uc = 255; signed char sc = -1; unsigned short us = 65535; unsigned u = 1; long l = -1;
    printf("%d %d %d\n", uc + 1, ~uc, -uc);
    printf("%d %d\n", (unsigned char)(uc + 1), sc == 255);
    printf("%d %d\n", sc < u, (long)-1 < u);
    printf("%d %d\n", -1 < 1u, us + 1);
    printf("%d\n", l < (unsigned)1);
    printf("%d\n", l < 1UL);
    printf("%lld\n", (long long)(int)2147483648u);
    printf("%d %d\n", (char)200 < 0, '\xff' == -1);
    printf("%u %u\n", UINT_MAX + 2, 0u - 1);
    printf("%lu\n", (unsigned long)-1 >> 60);
    printf("%d %d\n", -7 / 2, -7 % 2);
    printf("%u %u\n", -7u / 2, -7u % 2);
    printf("%d %d %d\n", 7 / -2, 7 % -2, (-8) >> 1);
    short s = 32767;
    s++;
    printf("%d\n", s);
    uc = 3; uc -= 5;
    printf("%d\n", uc);
    sc = 100; sc += 100;
    printf("%d\n", sc);
    printf("%zu %zu %zu\n", sizeof(uc + uc), sizeof('a'), sizeof(1 ? uc : sc));
    printf("%d\n", (1 ? -1 : 1u) > 0);
    printf("%lld %llu\n", 0x7fffffff + 1LL, 0xffffffffull + 1);
    printf("%zu %zu %zu\n", sizeof 2147483647, sizeof 2147483648, sizeof 0x80000000);
    int big = INT_MAX;
    printf("%d\n", (int)((unsigned)big + 1u));
    printf("%d %d\n", (_Bool)256, (_Bool)0.5);
    return 0;
}

// 128-bit integers: arithmetic, comparison, conversion, passing.
#include <stdio.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static void show(u128 v) { printf("%016llx%016llx\n", (unsigned long long)(v >> 64), (unsigned long long)v); }
static i128 square(i128 v) { return v * v; }

int main(void) {
    u128 a = (u128)1 << 100;
    show(a);
    show(a - 1);
    show(a / 1000000007);
    show(a % 1000000007);
    i128 b = -((i128)1 << 90);
    show(b >> 10);
    show(b / 3);
    show(b % 1000);
    show(square((i128)1e15));
    printf("%d %d %d\n", b < 0, a > (u128)b, (i128)a > b);
    printf("%.10g %.10g\n", (double)a, (double)b);
    show((u128)1e30);
    show(~(u128)0 * 3 + 5);
    unsigned long long big = 0xfedcba9876543210ULL;
    show((u128)big * big);
    struct { char c; i128 v; } s = {1, -5};
    printf("%zu %zu %lld\n", sizeof s, _Alignof(i128), (long long)s.v);
    u128 array[3] = {1, 2, 3};
    array[1] <<= 127;
    array[1] ^= array[2];
    show(array[1]);
    printf("%d\n", __builtin_popcountll((unsigned long long)(array[1] >> 64)));
    return 0;
}

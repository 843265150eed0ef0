// The common `__builtin_*`.
#include <stdio.h>
#include <string.h>

static inline __attribute__((always_inline)) int likely(int x) { return __builtin_expect(x, 1); }
static int unreachable(int x) { if (x > 0) return x; __builtin_unreachable(); }

int main(void) {
    unsigned u = 0x00f0a000u;
    unsigned long long ull = 0x0000f00000000000ULL;
    printf("%d %d %d\n", __builtin_popcount(u), __builtin_clz(u), __builtin_ctz(u));
    printf("%d %d %d\n", __builtin_popcountll(ull), __builtin_clzll(ull), __builtin_ctzll(ull));
    printf("%d %d %d\n", __builtin_ffs(0), __builtin_ffs(u), __builtin_parity(7));
    printf("%x %llx %x\n", __builtin_bswap32(0x01020304), __builtin_bswap64(0x0102030405060708ULL), __builtin_bswap16(0x0102));
    printf("%d %d\n", likely(5), unreachable(3));
    printf("%d %d\n", __builtin_constant_p(3 * 4), __builtin_types_compatible_p(int, const int));
    printf("%d %d\n", __builtin_types_compatible_p(int, long), __builtin_choose_expr(1, 5, "x"));
    printf("%d %d\n", __builtin_abs(-5), (int)__builtin_strlen("four"));
    char a[8], b[8];
    __builtin_memset(a, 'z', 8);
    __builtin_memcpy(b, a, 8);
    printf("%d %c\n", __builtin_memcmp(a, b, 8), b[7]);
    printf("%d\n", __builtin_isnan(__builtin_nan("")) && __builtin_isinf(__builtin_inf()) && __builtin_huge_val() > 1e308);
    printf("%.1f\n", __builtin_fabs(-2.5));
    printf("%zu\n", __builtin_offsetof(struct { int a; char b; short c; }, c));
    int *p = __builtin_alloca(4 * sizeof(int));
    p[3] = 12;
    printf("%d\n", p[3]);
    printf("%d\n", __builtin_object_size(p, 0) != 0);
    __builtin_prefetch(p);
    printf("%d %d\n", __builtin_clz(1), __builtin_clrsb(-1));
    int *q = __builtin_assume_aligned(p, 4);
    printf("%d\n", q == p);
    if (__builtin_expect(!!(u == 0), 0)) puts("never");
    return 0;
}

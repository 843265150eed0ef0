// Checked arithmetic: whether the exact result fits the result's type.
#include <limits.h>
#include <stdio.h>

int main(void) {
    int r; unsigned u; unsigned char c; long long l; signed char sc;
    printf("%d ", __builtin_add_overflow(INT_MAX, 1, &r)); printf("%d\n", r);
    printf("%d ", __builtin_add_overflow(1, 2, &r)); printf("%d\n", r);
    printf("%d ", __builtin_sub_overflow(3u, 5u, &u)); printf("%u\n", u);
    printf("%d ", __builtin_mul_overflow(1 << 20, 1 << 20, &r)); printf("%d\n", r);
    printf("%d ", __builtin_mul_overflow(1LL << 40, 1 << 10, &l)); printf("%lld\n", l);
    printf("%d ", __builtin_add_overflow(200, 100, &c)); printf("%d\n", c);
    printf("%d ", __builtin_add_overflow(-1, 1u, &u)); printf("%u\n", u);
    printf("%d ", __builtin_sub_overflow(0, 1, &u)); printf("%u\n", u);
    printf("%d ", __builtin_mul_overflow(-1, -128, &sc)); printf("%d\n", sc);
    printf("%d ", __builtin_sadd_overflow(INT_MIN, -1, &r)); printf("%d\n", r);
    printf("%d ", __builtin_umul_overflow(65536u, 65535u, &u)); printf("%u\n", u);
    printf("%d ", __builtin_ssubll_overflow(LLONG_MIN, 1LL, &l)); printf("%lld\n", l);
    return 0;
}
//~ STDOUT: 1 -2147483648
//~ STDOUT: 0 3
//~ STDOUT: 1 4294967294
//~ STDOUT: 1 0
//~ STDOUT: 0 1125899906842624
//~ STDOUT: 1 44
//~ STDOUT: 0 0
//~ STDOUT: 1 4294967295
//~ STDOUT: 1 -128
//~ STDOUT: 1 2147483647
//~ STDOUT: 0 4294901760
//~ STDOUT: 1 9223372036854775807

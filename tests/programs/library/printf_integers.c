// Integer conversions of printf: flags, widths, precisions, lengths.
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>

int main(void) {
    printf("[%d][%5d][%-5d][%05d][%+d][% d]\n", 42, 42, 42, 42, 42, 42);
    printf("[%d][%5d][%-5d][%05d][%+d][% d]\n", -42, -42, -42, -42, -42, -42);
    printf("[%.3d][%6.3d][%-6.3d][%06.3d][%.0d]\n", 7, 7, 7, 7, 0);
    printf("[%x][%X][%#x][%#X][%08x][%#o][%o]\n", 48879, 48879, 48879, 48879, 48879, 8, 8);
    printf("[%u][%lu][%llu][%hhu][%hu]\n", UINT_MAX, ULONG_MAX, ULLONG_MAX, 511, 65537);
    printf("[%hhd][%hd][%ld][%lld]\n", 200, 40000, LONG_MIN, LLONG_MIN);
    printf("[%zu][%td][%jd]\n", (size_t)5, (ptrdiff_t)-6, (intmax_t)7);
    printf("[%*d][%-*d][%.*d][%*.*d]\n", 6, 1, 6, 2, 3, 4, 7, 4, 5);
    printf("[%*d]\n", -4, 9);
    printf("[%" PRId64 "][%" PRIx32 "]\n", (int64_t)-1, (uint32_t)255);
    printf("[%c][%3c][%-3c][%%]\n", 'a', 'b', 'c');
    printf("[%i][%i]\n", 010, INT_MIN);
    printf("[%p]\n", (void *)0x1234);
    printf("[%#x][%#o]\n", 0, 0);
    int n = printf("12345\n");
    printf("%d\n", n);
    int at;
    printf("abc%n def\n", &at);
    printf("%d\n", at);
    return 0;
}

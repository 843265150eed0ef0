// Under `--data-model ilp32`, `long` and pointers have four bytes.
//~ FLAGS: --data-model ilp32
#include <stddef.h>
#include <stdio.h>

struct s { char c; long l; void *p; long long ll; double d; };

int main(void) {
    printf("%d %d %d %d\n", (int)sizeof(long), (int)sizeof(void *), (int)sizeof(long long), (int)sizeof(size_t));
    printf("%d %d %d\n", (int)offsetof(struct s, l), (int)offsetof(struct s, ll), (int)sizeof(struct s));
    unsigned long u = -1;
    printf("%lu %d\n", u, (int)sizeof(ptrdiff_t));
    long big = 2147483647;
    printf("%d\n", (long)((unsigned long)big + 1) < 0);
    int a[3] = {1, 2, 3};
    printf("%d %d\n", (int)(&a[2] - a), (int)sizeof(long double));
    printf("%d\n", -1L < 1u);
    return 0;
}
//~ STDOUT: 4 4 8 4
//~ STDOUT: 4 12 28
//~ STDOUT: 4294967295 4
//~ STDOUT: 1
//~ STDOUT: 2 12
//~ STDOUT: 0

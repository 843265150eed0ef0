// malloc, calloc, realloc, free, aligned allocation.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int *a = malloc(4 * sizeof *a);
    for (int i = 0; i < 4; i++) a[i] = i + 1;
    a = realloc(a, 8 * sizeof *a);
    for (int i = 4; i < 8; i++) a[i] = i + 1;
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += a[i];
    a = realloc(a, 2 * sizeof *a);
    printf("%d %d\n", sum, a[1]);
    free(a);
    long *z = calloc(100, sizeof *z);
    long any = 0;
    for (int i = 0; i < 100; i++) any |= z[i];
    printf("%ld\n", any);
    free(z);
    free(NULL);
    char *n = realloc(NULL, 6);
    strcpy(n, "fresh");
    puts(n);
    free(n);
    void *p = aligned_alloc(64, 128);
    printf("%d\n", (uintptr_t)p % 64 == 0);
    free(p);
    void *q;
    printf("%d %d\n", posix_memalign(&q, 32, 10), (uintptr_t)q % 32 == 0);
    free(q);
    char *blocks[10];
    for (int i = 0; i < 10; i++) { blocks[i] = malloc(i + 1); blocks[i][i] = i; }
    for (int i = 9; i >= 0; i--) { sum += blocks[i][i]; free(blocks[i]); }
    printf("%d\n", sum);
    return 0;
}
//~ STDOUT: 36 2
//~ STDOUT: 0
//~ STDOUT: fresh
//~ STDOUT: 1
//~ STDOUT: 0 1
//~ STDOUT: 81

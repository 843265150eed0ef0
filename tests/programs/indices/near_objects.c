// With 32 bits objects lie near each other; still no pointer gets from one into another.
//~ FLAGS: --data-model ilp32
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DFAR=1: index out of bounds
//~ UNSAFE -DFAR=2: index out of bounds
//~ UNSAFE -DFAR=3: index out of bounds
//~ UNSAFE -DFAR=4: index out of bounds
//~ UNSAFE -DFAR=5: index out of bounds
//~ UNSAFE -DFAR=6: index out of bounds
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char large[200000];
static int a[10], b[10];

static void set(int *p, int i) {
    p[i] = 1;
}

int main(void) {
    int *p = malloc(40), *q = malloc(40);
    if (!p || !q)
        return 1;
#if FAR == 1
    p[16384] = 1;
#elif FAR == 2
    set(a, 16384);
#elif FAR == 3
    char *c = (char *)p;
    c += 40000;
    c += 40000;
    *c = 1;
#elif FAR == 4
    *(int *)((uintptr_t)q - 65536) = 1;
#elif FAR == 5
    memset((char *)p + 65536, 0, 4);
#elif FAR == 6
    char *c = large;
    c += 299000;
    *c = 1;
#else
    for (int i = 0; i < 10; i++) {
        set(p, i);
        set(b, 9 - i);
    }
    char *c = large;
    c += 150000;
    *c = 1;
    c -= 150000;
    c[199999] = 2;
    for (int *back = a + 9; back >= a; back--)
        *back = 0;
    char *number = (char *)0 + 100000;
    if (number == large)
        return 2;
#endif
    free(p);
    free(q);
    return 0;
}

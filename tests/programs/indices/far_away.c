// However far an index leads, at once or in several steps, it never leads into another object.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DFAR=1: out of bounds
//~ UNSAFE -DFAR=2: out of bounds
//~ UNSAFE -DFAR=3: out of bounds
//~ UNSAFE -DFAR=4: out of bounds
//~ UNSAFE -DFAR=5: out of bounds
//~ UNSAFE -DFAR=6: out of bounds
//~ UNSAFE -DFAR=7: out of bounds
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int a[10], b[10];

struct pair {
    int first, second;
};

int main(void) {
    long *p = malloc(sizeof(long)), *q = malloc(sizeof(long));
    if (!p || !q)
        return 1;
#if FAR == 1
    int i = 1 << 30;
    a[i] = 1;
#elif FAR == 2
    long i = 1L << 37;
    p[i] = 1;
#elif FAR == 3
    long i = -(1L << 37);
    q[i] = 1;
#elif FAR == 4
    char *c = (char *)p;
    for (int step = 0; step < 4; step++)
        c += 1L << 38;
    *c = 1;
#elif FAR == 5
    *(int *)((uintptr_t)a + (1UL << 40)) = 1;
#elif FAR == 6
    struct pair *pair = (struct pair *)p;
    pair[1L << 37].second = 1;
#elif FAR == 7
    memset((char *)p + (1L << 40), 0, sizeof(long));
#else
    int i = 9;
    a[i] = 1;
    p[i - 9] = 1;
    struct pair *pair = (struct pair *)((uintptr_t)p + (uintptr_t)i - 9);
    pair->second = 1;
    for (int *back = a + 9; back >= a; back--)
        *back = 0;
    char *number = (char *)0 + (1UL << 41);
    if (number == (char *)a)
        return 2;
#endif
    free(p);
    free(q);
    return b[0];
}

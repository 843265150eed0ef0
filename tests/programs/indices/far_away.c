// However far an index leads, it never leads into another object.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DFAR=1: out of bounds
//~ UNSAFE -DFAR=2: out of bounds
//~ UNSAFE -DFAR=3: out of bounds
#include <stdlib.h>

int a[10], b[10];

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
#else
    int i = 9;
    a[i] = 1;
    p[i - 9] = 1;
#endif
    free(p);
    free(q);
    return b[0];
}

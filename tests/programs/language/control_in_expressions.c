// Calls, conditions and side effects deep inside expressions.
#include <stdio.h>

static int trace;
static int t(int v) { trace = trace * 3 + v; return v; }
static int three(int a, int b, int c) { return a * 100 + b * 10 + c; }
static int *slot(int *p) { trace++; return p; }

int main(void) {
    int a[3] = {0, 0, 0}, i = 0;
    a[i++ ? 1 : 2] = 5;
    printf("%d %d %d\n", a[1], a[2], i);
    int r = (t(1) && t(0)) || (t(2) && !t(0)) ? t(1) + t(2) : t(0);
    printf("%d %d\n", r, trace);
    *slot(&a[1]) += *slot(&a[2]) + (a[0] = 7);
    printf("%d %d\n", a[1], a[0]);
    printf("%d\n", three(1, (2, 3), i ? 4 : 5));
    int n = 0;
    while (n++ < 3 && (i += n, i < 100)) ;
    printf("%d %d\n", n, i);
    int x = 5;
    x = x > 3 ? x < 10 ? x == 5 ? 1 : 2 : 3 : 4;
    printf("%d\n", x);
    int y = !x + !!x + -(-x) + ~~x;
    printf("%d\n", y);
    int m = (x = 3) + (y = 4);
    printf("%d %d %d\n", m, x, y);
    printf("%d\n", 1 + 2 * 3 - 4 / 2 % 3 << 1 & 0xff | 1 ^ 2);
    printf("%d %d\n", 1 < 2 == 1, 5 & 3 == 3);
    return 0;
}
//~ STDOUT: 0 5 1
//~ STDOUT: 3 302
//~ STDOUT: 12 7
//~ STDOUT: 134
//~ STDOUT: 4 7
//~ STDOUT: 1
//~ STDOUT: 3
//~ STDOUT: 7 3 4
//~ STDOUT: 11
//~ STDOUT: 1 1

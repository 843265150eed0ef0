// Definitions in the style of Kernighan and Ritchie: arguments arrive promoted and are converted back.
#include <stdio.h>

int add(a, b) int a, b; { return a + b; }
double scale(c, f, p) char c; float f; double *p; { return c * f + *p; }
unsigned narrow(u, s) unsigned char u; short s; { return u + s; }
static char *pick(n, table) int n; char *table[]; { return table[n]; }
int no_params() { return 9; }
int apply(f, n) int (*f)(); int n; { return f(n, 1); }

int main() {
    double d = 0.5;
    char *table[] = {"zero", "one"};
    printf("%d %.2f\n", add(3, 4), scale(2, 1.25, &d));
    printf("%u %s %d\n", narrow(300, 65537), pick(1, table), no_params());
    printf("%d\n", apply(add, 41));
    return 0;
}
//~ STDOUT: 7 3.00
//~ STDOUT: 45 one 9
//~ STDOUT: 42

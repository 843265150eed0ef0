// Variable arguments of every class, copied and passed on.
#include <stdarg.h>
#include <stdio.h>

struct small { int a, b; };
struct large { long v[5]; };

static double total(const char *types, ...) {
    va_list ap;
    double sum = 0;
    va_start(ap, types);
    for (; *types; types++) {
        switch (*types) {
        case 'i': sum += va_arg(ap, int); break;
        case 'l': sum += va_arg(ap, long long); break;
        case 'd': sum += va_arg(ap, double); break;
        case 'p': sum += *va_arg(ap, int *); break;
        case 's': { struct small s = va_arg(ap, struct small); sum += s.a + s.b; break; }
        case 'L': sum += va_arg(ap, struct large).v[4]; break;
        case 'x': sum += va_arg(ap, long double); break;
        }
    }
    va_end(ap);
    return sum;
}

static int vsum(int n, va_list ap) {
    int sum = 0;
    while (n--) sum += va_arg(ap, int);
    return sum;
}

static int twice(int n, ...) {
    va_list ap, again;
    va_start(ap, n);
    va_copy(again, ap);
    int sum = vsum(n, ap);
    sum += 100 * vsum(n, again);
    va_end(again);
    va_end(ap);
    return sum;
}

static void take_one(va_list *ap) { printf("%d ", va_arg(*ap, int)); }

static void by_pointer(int n, ...) {
    va_list ap;
    va_start(ap, n);
    while (n--) take_one(&ap);
    va_end(ap);
    puts("");
}

static void say(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}

int main(void) {
    int seven = 7;
    struct small s = {1, 2};
    struct large l = {{0, 0, 0, 0, 50}};
    char c = 3;
    float f = 0.5f;
    printf("%.2f\n", total("ildpsLx", 1, 2LL, 0.25, &seven, s, l, (long double)1000));
    printf("%.2f\n", total("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, c));
    printf("%.2f\n", total("dddddddddd", 1., 2., 3., 4., 5., 6., 7., 8., 9., f));
    printf("%.2f\n", total("sisisisi", s, 1, s, 2, s, 3, s, 4));
    printf("%d\n", twice(3, 1, 2, 3));
    by_pointer(4, 9, 8, 7, 6);
    say("%s %d %c %.1f\n", "said", 42, 'x', 1.5);
    int (*fp)(int, ...) = twice;
    printf("%d\n", fp(1, 5));
    return 0;
}
//~ STDOUT: 1063.25
//~ STDOUT: 48.00
//~ STDOUT: 45.50
//~ STDOUT: 22.00
//~ STDOUT: 606
//~ STDOUT: 9 8 7 6
//~ STDOUT: said 42 x 1.5
//~ STDOUT: 505

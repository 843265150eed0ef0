// Shadowing, block-scope `extern`, `static` locals, tentative definitions, tags in scopes.
#include <stdio.h>

int x = 1;
int tentative;
int tentative;
int tentative = 4;
static int hidden;
extern int declared_only_later;
struct s { int a; };
int y_is_one(void);

static int counter(void) {
    static int n = 10;
    static int *p = &n;
    static const char *names[] = {"even", "odd"};
    ++*p;
    return n + names[n & 1][0] * 0;
}

static int shadow(int x) {
    int sum = x;
    { int x = 20; sum += x; { extern int x; sum += x * 100; } }
    for (int x = 0; x < 3; x++) { int x = 1000; sum += x; }
    return sum;
}

int main(void) {
    struct s outer = {1};
    struct s { char b[9]; };
    struct s inner = {"in"};
    printf("%zu %d %s\n", sizeof inner, outer.a, inner.b);
    int a = counter(), b = counter();
    printf("%d %d %d\n", a, b, counter());
    printf("%d %d\n", shadow(5), tentative);
    typedef int t;
    { t t = 3; printf("%d\n", t); }
    int sizeof_x = sizeof x;
    { double x = 0.5; printf("%d %zu\n", sizeof_x, sizeof x); }
    printf("%d %d\n", declared_only_later, hidden);
    int y = y_is_one();
    return y - 1;
}

int y_is_one(void) { return x; }
int declared_only_later = 77;
//~ STDOUT: 9 1 in
//~ STDOUT: 11 12 13
//~ STDOUT: 3125 4
//~ STDOUT: 3
//~ STDOUT: 4 8
//~ STDOUT: 77 0

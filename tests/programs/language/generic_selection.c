// `_Generic` chooses by type, after lvalue conversion, and evaluates only what it chose.
#include <stdio.h>

#define NAME(x) _Generic((x), \
    _Bool: "bool", char: "char", signed char: "schar", unsigned char: "uchar", short: "short", int: "int", \
    unsigned: "uint", long: "long", unsigned long: "ulong", long long: "llong", float: "float", double: "double", \
    long double: "ldouble", char *: "string", const char *: "cstring", int *: "intp", void (*)(void): "fn", \
    struct s: "struct", default: "other")

struct s { int x; };
static void f(void) {}
static int calls;
static int called(void) { return ++calls; }

int main(void) {
    char c = 0; const int ci = 0; short sh = 0; struct s s = {0}; int array[3]; float fl = 0; _Bool b = 1;
    printf("%s %s %s %s\n", NAME(c), NAME('c'), NAME(ci), NAME(sh + sh));
    printf("%s %s %s %s\n", NAME(s), NAME(array), NAME(&ci), NAME(f));
    printf("%s %s %s %s\n", NAME(fl), NAME(fl * 1.0), NAME(1.0L), NAME(b));
    printf("%s %s %s %s\n", NAME(1u), NAME(1L), NAME(1LL), NAME(sizeof c));
    printf("%s %s %s\n", NAME("text"), NAME((const char *)0), NAME((unsigned char)1 << 1));
    int r = _Generic(called(), int: 5, default: called());
    printf("%d %d\n", r, calls);
    _Generic(1, int: array)[1] = 6;
    printf("%d\n", array[1]);
    return 0;
}
//~ STDOUT: char int int int
//~ STDOUT: struct intp other fn
//~ STDOUT: float double ldouble bool
//~ STDOUT: uint long llong ulong
//~ STDOUT: string cstring int
//~ STDOUT: 5 0
//~ STDOUT: 6

// Smaller GNU extensions that real programs use.
#include <stdio.h>

union number { int i; double d; };
static double half(union number n) { return n.d / 2; }
struct trailing { int n; union { int a; float b; }; struct {}; };

int main(void) {
    __label__ out, unused;
    __auto_type x = 2.5;
    __auto_type p = &x;
    *p += 1;
    printf("%.1f\n", x);
    printf("%.1f\n", half((union number)9.0));
    int found = 0;
    for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) if (i * j == 6) { found = i * 10 + j; goto out; }
out:
unused:
    printf("%d\n", found);
    for (int round = 0; round < 2; round++) {
        __label__ local;
        if (round) goto local;
        printf("first ");
    local:
        printf("local ");
    }
    puts("");
    int zero[0];
    printf("%zu %zu\n", sizeof zero, sizeof(struct {}));
    void *v = &found;
    printf("%d\n", (int)(((char *)(v + 3)) - (char *)v));
    printf("%d %d\n", __alignof__(int), (int)sizeof(__typeof__(int[4])));
    int a = ({ 5; }), b = a ?: 1, c = __extension__({ b + 1; });
    printf("%d %d\n", b, c);
    printf("%s\n", __PRETTY_FUNCTION__);
    ;;
    int \u00e9t\u00e9 = 4, dollar$name = 3;
    printf("%d\n", \u00e9t\u00e9 + dollar$name);
    struct { int a[2]; } s[] = {[0 ... 2] = {{1, 2}}};
    printf("%zu %d\n", sizeof s / sizeof *s, s[2].a[1]);
    return 0;
}
//~ STDOUT: 3.5
//~ STDOUT: 4.5
//~ STDOUT: 23
//~ STDOUT: first local local
//~ STDOUT: 0 0
//~ STDOUT: 3
//~ STDOUT: 4 16
//~ STDOUT: 5 6
//~ STDOUT: main
//~ STDOUT: 7
//~ STDOUT: 3 2

// `mem*` functions, also on overlapping and empty ranges.
#include <stdio.h>
#include <string.h>

int main(void) {
    char a[] = "0123456789", b[11];
    memcpy(b, a, sizeof a);
    memmove(b + 2, b, 5);
    puts(b);
    memmove(b, b + 3, 6);
    puts(b);
    memset(a, '-', 4);
    puts(a);
    printf("%d %d %d\n", memcmp("abc", "abc", 3), memcmp("abc", "abd", 3) < 0, memcmp("x", "y", 0));
    printf("%d %d\n", memcmp("\x80", "\x7f", 1) > 0, memchr("abc", 'c', 2) == NULL);
    printf("%s\n", (char *)memchr("find me", 'm', 7));
    int v[3] = {1, 2, 3}, w[3];
    memcpy(w, v, sizeof v);
    memset(v, 0, sizeof v);
    printf("%d %d\n", w[2], v[2]);
    struct { int a; char c; double d; } s = {1, 'x', 2.5}, t;
    memcpy(&t, &s, sizeof s);
    printf("%d %c %.1f\n", t.a, t.c, t.d);
    int *p = &v[1], *q;
    memcpy(&q, &p, sizeof p);
    *q = 42;
    printf("%d\n", v[1]);
    memset(w, 0xff, sizeof w);
    printf("%d\n", w[0]);
    return 0;
}
//~ STDOUT: 0101234789
//~ STDOUT: 1234784789
//~ STDOUT: ----456789
//~ STDOUT: 0 1 0
//~ STDOUT: 1 1
//~ STDOUT: me
//~ STDOUT: 3 0
//~ STDOUT: 1 x 2.5
//~ STDOUT: 42
//~ STDOUT: -1

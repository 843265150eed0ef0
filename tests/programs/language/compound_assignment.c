// Compound assignment converts as if written out, and evaluates its place once.
#include <stdio.h>

static int calls;
static int index_(void) { return calls++; }

int main(void) {
    int a[4] = {10, 20, 30, 40};
    a[index_()] += 5;
    a[index_()]++;
    --a[index_()];
    printf("%d %d %d %d %d\n", a[0], a[1], a[2], a[3], calls);
    int *p = a;
    *p++ *= 2;
    *++p -= 1;
    printf("%d %d %td\n", a[0], a[2], p - a);
    unsigned char c = 250;
    int r = (c += 10);
    printf("%d %d\n", c, r);
    int i = -7;
    i >>= 1; printf("%d ", i);
    i /= 2; printf("%d ", i);
    i %= 2; printf("%d ", i);
    i |= 0x10; i &= ~1; i ^= 3; i <<= 2;
    printf("%d\n", i);
    double d = 10;
    d /= 4; d += 1; d *= d; d -= 0.25;
    printf("%.2f\n", d);
    float f = 16777216.0f;
    f += 1;
    printf("%.1f\n", f);
    int x = 5, y, z;
    y = z = x += 2;
    printf("%d %d %d\n", x, y, z);
    short s = 1;
    s += 65536 + 2;
    printf("%d\n", s);
    i = 10;
    i += 0.9;
    i -= 1u;
    printf("%d\n", i);
    struct { int n; struct { int m[2]; } in; } t = {1, {{2, 3}}}, *q = &t;
    q->in.m[1] += q->n++;
    printf("%d %d\n", t.in.m[1], t.n);
    _Bool b = 0;
    b += 5;
    b++;
    printf("%d\n", b);
    b--;
    printf("%d\n", b);
    char *text = "abcdef";
    text += 2;
    int letter = *text++;
    printf("%s %d\n", text, letter);
    return 0;
}

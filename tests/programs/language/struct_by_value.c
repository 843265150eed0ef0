// Structures as arguments, results, assignments and conditional values.
#include <stdio.h>

struct tiny { char c; };
struct point { int x, y; };
struct mixed { double d; int i; char text[6]; };
struct huge { int v[50]; };

static struct point swap(struct point p) { int t = p.x; p.x = p.y; p.y = t; return p; }
static struct tiny next(struct tiny t) { t.c++; return t; }
static struct mixed make(int i, const char *s) {
    struct mixed m = {i * 0.5, i, ""};
    for (int k = 0; k < 5 && s[k]; k++) m.text[k] = s[k];
    return m;
}
static struct huge fill(struct huge h, int from) {
    for (int i = 0; i < 50; i++) h.v[i] += from + i;
    return h;
}
static int sum(struct huge h) { int s = 0; for (int i = 0; i < 50; i++) s += h.v[i]; h.v[0] = -1; return s; }

int main(void) {
    struct point p = {1, 2}, q = swap(p);
    printf("%d %d %d %d\n", p.x, p.y, q.x, q.y);
    printf("%d %d\n", swap(swap(p)).x, swap(p).x);
    printf("%c\n", next(next((struct tiny){'a'})).c);
    struct mixed m = make(7, "hello");
    printf("%.1f %d %s %c\n", m.d, m.i, m.text, make(1, "xyz").text[1]);
    struct huge h = {{1}}, g;
    g = fill(h, 10);
    printf("%d %d %d\n", sum(g), sum(g), h.v[0]);
    struct point array[3] = {{1, 1}, {2, 2}, {3, 3}};
    array[0] = array[2] = array[1];
    printf("%d %d\n", array[0].x, array[2].y);
    int which = 1;
    struct point r = which ? p : q;
    printf("%d %d\n", r.x, (which ? q : p).x);
    struct point *a = &array[1];
    *a = swap(*a = (struct point){8, 9});
    printf("%d %d\n", a->x, a->y);
    p = p;
    struct { struct point inner[2]; } nest = {{{1, 2}, {3, 4}}}, copy;
    copy = nest;
    copy.inner[1].x = 30;
    printf("%d %d %d\n", nest.inner[1].x, copy.inner[1].x, (nest.inner[0] = p, nest.inner[1]).y);
    return 0;
}
//~ STDOUT: 1 2 2 1
//~ STDOUT: 1 2
//~ STDOUT: c
//~ STDOUT: 3.5 7 hello y
//~ STDOUT: 1726 1726 1
//~ STDOUT: 2 2
//~ STDOUT: 1 2
//~ STDOUT: 9 8
//~ STDOUT: 3 30 4

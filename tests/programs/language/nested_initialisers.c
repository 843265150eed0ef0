// Brace elision: the same object with all, some and none of its braces.
#include <stdio.h>

struct inner { char tag; short pair[2]; };
struct outer { int head; struct inner in[2]; double tail; };

static struct outer full = {1, {{'a', {2, 3}}, {'b', {4, 5}}}, 6.5};
static struct outer flat = {1, 'a', 2, 3, 'b', 4, 5, 6.5};
static struct outer some = {1, {'a', 2, 3, {'b', 4}}, 6.5};
static int matrix[][3] = {1, 2, 3, 4, 5};
static char rows[][4] = {"abc", {'d', 'e'}, "fgh"};
static struct { int n; struct { struct { int a, b; } p; int c; } q[2]; } deep = {1, {{{2, 3}, 4}, 5, 6, 7}};

static void show(const struct outer *o) {
    printf("%d %c%d%d %c%d%d %.1f\n", o->head, o->in[0].tag, o->in[0].pair[0], o->in[0].pair[1], o->in[1].tag,
           o->in[1].pair[0], o->in[1].pair[1], o->tail);
}

int main(void) {
    show(&full);
    show(&flat);
    show(&some);
    struct inner shared = {'x', {8, 9}};
    struct outer local = {2, {shared, {'y'}}, 1};
    show(&local);
    printf("%zu %d %d\n", sizeof matrix / sizeof *matrix, matrix[1][1], matrix[1][2]);
    printf("%s %s %.4s %zu\n", rows[0], rows[1], rows[2], sizeof rows);
    printf("%d %d %d %d\n", deep.q[0].p.b, deep.q[1].p.a, deep.q[1].p.b, deep.q[1].c);
    int scalar = {5};
    char text[] = {"braced"};
    printf("%d %s %zu\n", scalar, text, sizeof text);
    return 0;
}
//~ STDOUT: 1 a23 b45 6.5
//~ STDOUT: 1 a23 b45 6.5
//~ STDOUT: 1 a23 b40 6.5
//~ STDOUT: 2 x89 y00 1.0
//~ STDOUT: 2 5 0
//~ STDOUT: abc de fgh 12
//~ STDOUT: 3 5 6 7
//~ STDOUT: 5 braced 7

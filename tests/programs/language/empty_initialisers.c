// `= {}` zeroes everything, on the stack as well as at file scope.
#include <stdio.h>

struct big { int n[20]; char text[10]; double d; struct { void *p; } in; };
static struct big at_file_scope = {};
struct empty {};

static int check(void) {
    struct big b = {};
    int a[7] = {};
    int sum = b.in.p != 0;
    for (int i = 0; i < 20; i++) sum += b.n[i];
    for (int i = 0; i < 10; i++) sum += b.text[i];
    for (int i = 0; i < 7; i++) sum += a[i];
    b.n[3] = 77;
    a[2] = 9;
    return sum + (b.d != 0);
}

static int dirty(int n) {
    int junk[40];
    for (int i = 0; i < 40; i++) junk[i] = n + i;
    return junk[n];
}

int main(void) {
    dirty(5);
    printf("%d %d\n", check(), check());
    printf("%d %d %zu\n", at_file_scope.n[19], at_file_scope.in.p == 0, sizeof(struct empty));
    struct empty e = {}, f = e;
    (void)f;
    struct { int a; int b[2]; } s = {.b = {}}, t[2] = {{}, {1}};
    printf("%d %d %d %d\n", s.a, s.b[1], t[0].a, t[1].a);
    return 0;
}
//~ STDOUT: 0 0
//~ STDOUT: 0 1 0
//~ STDOUT: 0 0 0 1

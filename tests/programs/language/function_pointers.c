// Function pointers in arrays, structures and parameters; functions that return them.
#include <stdio.h>

typedef int binary(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

static binary *table[] = {add, &sub, *mul};
static int (*choose(char c))(int, int) { return c == '+' ? add : c == '-' ? sub : mul; }
static int apply(int f(int, int), int a, int b) { return (*f)(a, b); }
static int (*(*chooser)(char))(int, int) = choose;

struct op { const char *name; binary *run; };
static const struct op ops[] = {{"add", add}, {"mul", mul}};

static void nothing(void) {}
static void (*maybe)(void);

int main(void) {
    for (int i = 0; i < 3; i++) printf("%d ", table[i](7, 3));
    printf("%d %d\n", choose('-')(1, 2), (*chooser)('*')(5, 6));
    printf("%d %d\n", apply(add, 1, 1), apply(&mul, 4, 4));
    for (unsigned i = 0; i < 2; i++) printf("%s %d\n", ops[i].name, ops[i].run(2, 5));
    printf("%d ", maybe == 0);
    printf("%d\n", (maybe = nothing) != 0);
    maybe();
    (**maybe)();
    printf("%d %d\n", table[0] == add, table[1] == add);
    void *hidden = (void *)sub;
    printf("%d\n", ((binary *)hidden)(9, 4));
    printf("%d\n", (1 ? add : sub)(3, 4));
    return 0;
}
//~ STDOUT: 10 4 21 -1 30
//~ STDOUT: 2 16
//~ STDOUT: add 7
//~ STDOUT: mul 10
//~ STDOUT: 1 1
//~ STDOUT: 1 0
//~ STDOUT: 5
//~ STDOUT: 7

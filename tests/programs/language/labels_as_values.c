// Computed goto: an interpreter loop with a table of labels.
#include <stdio.h>

static int run(const unsigned char *code) {
    static const void *const dispatch[] = {&&push, &&add, &&mul, &&dup, &&halt};
    int stack[16], *sp = stack;
#define NEXT goto *dispatch[*code++]
    NEXT;
push: *sp++ = *code++; NEXT;
add: sp--; sp[-1] += *sp; NEXT;
mul: sp--; sp[-1] *= *sp; NEXT;
dup: *sp = sp[-1]; sp++; NEXT;
halt: return sp[-1];
}

static int twice(int n) {
    void *back = &&first;
    int total = 0;
    goto body;
first:
    back = &&second;
    goto body;
second:
    return total;
body:
    total += n;
    goto *back;
}

int main(void) {
    static const unsigned char program[] = {0, 6, 3, 2, 0, 5, 1, 4};
    printf("%d %d\n", run(program), twice(21));
    void *targets[2] = {&&a, &&b};
    for (int i = 0; i < 4; i++) {
        goto *targets[i & 1];
    a: printf("a%d ", i); continue;
    b: printf("b%d ", i);
    }
    puts("");
    return 0;
}
//~ STDOUT: 41 42
//~ STDOUT: a0 b1 a2 b3

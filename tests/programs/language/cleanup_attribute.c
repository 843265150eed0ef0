// `cleanup` runs whenever a scope is left: by its end, `return`, `break`, `continue` and `goto`.
#include <stdio.h>

static void bye(int *p) { printf("bye %d\n", *p); }
#define WATCHED __attribute__((cleanup(bye))) int

static int returns(int n) {
    WATCHED a = 1;
    if (n) { WATCHED b = 2; return a * 10 + b; }
    WATCHED c = 3;
    return c + a;
}

static int value_first(void) {
    WATCHED x = 5;
    return x++;
}

int main(void) {
    printf("%d\n", returns(1));
    printf("%d\n", returns(0));
    printf("%d\n", value_first());
    for (int i = 0; i < 4; i++) {
        WATCHED in_loop = 100 + i;
        if (i == 1) continue;
        if (i == 2) break;
        puts("body");
    }
    {
        WATCHED jumped = 50;
        goto out;
    }
out:
    puts("out");
    int v = ({ WATCHED inner = 9; inner + 1; });
    printf("%d\n", v);
    return 0;
}

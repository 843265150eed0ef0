// Several files make one program: common names, internal names, types that agree.
//~ FILES: other.c
#include <stdio.h>
#include "shared.h"

static int hidden = 1;
int shared_counter;
const char *const banner = "main";

static int helper(void) { return hidden; }

int main(void) {
    struct item it = make_item(5);
    bump();
    bump();
    printf("%d %d %d\n", helper(), other_helper(), shared_counter);
    printf("%d %s %s\n", it.n, it.name, table[1]);
    printf("%d\n", apply(inline_twice, 21));
    return 0;
}
//~ STDOUT: 1 20 6
//~ STDOUT: 10 main one
//~ STDOUT: 42

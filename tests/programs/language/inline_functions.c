// `inline` in its several meanings, `_Noreturn`, and asm labels.
#include <stdio.h>
#include <stdlib.h>

static inline int square(int x) { return x * x; }
inline int shared(int x) { return x + 1; }
extern int shared(int x);
extern inline __attribute__((gnu_inline)) int only_inline(int x) { return x + 2; }
int only_inline(int x) { return x + 2; }
static int renamed(int x) __asm__("other_name");
static int renamed(int x) { return x + 3; }
extern int printf_alias(const char *, ...) __asm__("printf");
_Noreturn static void finish(int status) { puts("finish"); exit(status); }

int main(void) {
    printf("%d %d %d %d\n", square(5), shared(1), only_inline(1), renamed(1));
    printf_alias("%s\n", "aliased");
    finish(3);
}
//~ EXIT: 3
//~ STDOUT: 25 2 3 4
//~ STDOUT: aliased
//~ STDOUT: finish

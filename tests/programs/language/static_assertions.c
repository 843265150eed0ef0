// `_Static_assert` at file scope, in structures and in blocks.
#include <assert.h>
#include <limits.h>
#include <stdio.h>

_Static_assert(sizeof(int) == 4, "int has four bytes");
static_assert(CHAR_BIT == 8, "bytes");
struct s { char a; _Static_assert(sizeof(long) >= 4, "long"); int b; };
enum { N = sizeof(struct s) * 2 };
_Static_assert(N == 16 && (-1 >> 1) < 0 && (unsigned char)-1 == 255, "constant expressions");

int main(void) {
    _Static_assert(__builtin_offsetof(struct s, b) == 4, "offset");
    static_assert((int)3.9 == 3 && !0 && (1 ? 2 : 1 / 1) == 2, "folding");
    printf("%d\n", N);
    return 0;
}
//~ STDOUT: 16

// Declarations without a type are `int`, with a warning.
#include <stdio.h>

static counter = 5; //~ WARN: int
limit(n) { return n + counter; } //~ WARN: int

main() { //~ WARN: int
    const k = 3; //~ WARN: int
    register r = 4; //~ WARN: int
    printf("%d %d %d\n", limit(1), k, r);
    return 0;
}
//~ STDOUT: 6 3 4

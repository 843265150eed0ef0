// GNU case ranges, at the edges of their types.
#include <limits.h>
#include <stdio.h>

static const char *kind(int c) {
    switch (c) {
    case 'a' ... 'z': return "lower";
    case 'A' ... 'Z': return "upper";
    case '0' ... '9': return "digit";
    case INT_MIN ... -1: return "negative";
    case 1000 ... INT_MAX: return "large";
    case 5 ... 5: return "five";
    default: return "other";
    }
}

static int wide(unsigned long long v) {
    switch (v) {
    case 0 ... 0xff: return 1;
    case 0x100 ... 0xffffffffull: return 2;
    case 0x100000000ull ... 0xfffffffffffffffeull: return 3;
    }
    return 4;
}

int main(void) {
    int inputs[] = {'q', 'Q', '7', -1, INT_MIN, 1000, INT_MAX, 5, 6, ' '};
    for (unsigned i = 0; i < sizeof inputs / sizeof *inputs; i++) puts(kind(inputs[i]));
    printf("%d %d %d %d\n", wide(255), wide(256), wide(1ull << 40), wide(~0ull));
    int steps = 0;
    switch (3) {
    case 0 ... 2: steps += 1;
    case 3 ... 4: steps += 10;
    case 6 ... 9: steps += 100;
    }
    printf("%d\n", steps);
    return 0;
}
//~ STDOUT: lower
//~ STDOUT: upper
//~ STDOUT: digit
//~ STDOUT: negative
//~ STDOUT: negative
//~ STDOUT: large
//~ STDOUT: large
//~ STDOUT: five
//~ STDOUT: other
//~ STDOUT: other
//~ STDOUT: 1 2 3 4
//~ STDOUT: 110

// Enumerators: values, negative and large ones, use as constants and array sizes.
#include <stdio.h>

enum colour { RED, GREEN = 5, BLUE, ALIAS = RED, LAST = BLUE + 10 };
enum big { SMALL = -1, HUGE_ = 0x7fffffff };
enum unsigned_ { TOP = 0xffffffffu };
enum very_big { WIDE = 1LL << 40 };
typedef enum { A, B, C, COUNT } letter;
static int table[COUNT] = {[C] = 30};
enum later;
enum later { NOW = 1 };

static const char *name(enum colour c) {
    switch (c) {
    case RED: return "red";
    case GREEN: return "green";
    case BLUE: return "blue";
    default: return "?";
    }
}

int main(void) {
    printf("%d %d %d %d %d\n", RED, GREEN, BLUE, ALIAS, LAST);
    printf("%s %s %s\n", name(ALIAS), name(6), name(LAST));
    printf("%zu %d %d\n", sizeof(enum colour), SMALL < 0, HUGE_);
    printf("%u %d\n", TOP, (enum unsigned_)-1 > 0);
    printf("%zu %lld\n", sizeof(enum very_big), (long long)WIDE);
    letter l = B;
    l++;
    printf("%d %d %zu\n", l, table[l], sizeof table);
    enum { LOCAL = 9, RED = 8 };
    printf("%d %d\n", LOCAL, RED);
    enum later n = NOW;
    printf("%d\n", n + (int)sizeof(enum { INSIDE = 3 }) + INSIDE);
    return 0;
}
//~ STDOUT: 0 5 6 0 16
//~ STDOUT: red blue ?
//~ STDOUT: 4 1 2147483647
//~ STDOUT: 4294967295 1
//~ STDOUT: 8 1099511627776
//~ STDOUT: 2 30 12
//~ STDOUT: 9 8
//~ STDOUT: 8

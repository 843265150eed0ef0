// Bit-fields: packing, sign, width zero, and the bytes they end up in.
#include <stdio.h>
#include <string.h>

struct flags { unsigned a : 3, b : 5; int c : 4; unsigned : 0; unsigned d : 1; unsigned long long e : 40; };
struct mixed { char c; int a : 7; short s; unsigned char b : 4; unsigned char d : 4; };
struct straddle { unsigned char a : 6; unsigned char b : 6; unsigned char c : 6; };
struct boolean { _Bool on : 1; _Bool off : 1; };
enum e { P, Q, R };
struct with_enum { enum e x : 2; unsigned rest : 30; };

static void bytes(const void *p, unsigned long n) {
    const unsigned char *b = p;
    while (n--) printf("%02x", *b++);
    puts("");
}

int main(void) {
    struct flags f;
    memset(&f, 0, sizeof f);
    f.a = 5; f.b = 17; f.c = -3; f.d = 1; f.e = 0x123456789aULL;
    printf("%zu %u %u %d %u %llx\n", sizeof f, f.a, f.b, f.c, f.d, (unsigned long long)f.e);
    bytes(&f, sizeof f);
    struct mixed m;
    memset(&m, 0, sizeof m);
    m.c = 'A'; m.a = -1; m.s = 0x1234; m.b = 9; m.d = 6;
    printf("%zu ", sizeof m);
    bytes(&m, sizeof m);
    struct straddle t;
    memset(&t, 0, sizeof t);
    t.a = 63; t.b = 1; t.c = 42;
    printf("%zu ", sizeof t);
    bytes(&t, sizeof t);
    struct boolean b = {2, 0};
    printf("%d %d %zu\n", b.on, b.off, sizeof b);
    struct with_enum w = {R, 77};
    printf("%d %u %d\n", w.x, w.rest, w.x == R);
    struct flags copy = f;
    copy.a = 9;
    printf("%u %u\n", copy.a, f.a);
    static struct { int x : 4; int : 3; int y : 9; } s = {-5, 100};
    printf("%d %d\n", s.x, s.y);
    struct { signed char big : 8; unsigned wide : 32; } full = {-128, 0xffffffffu};
    printf("%d %u\n", full.big, full.wide);
    return 0;
}
//~ STDOUT: 16 5 17 -3 1 123456789a
//~ STDOUT: 8d0d0000010000009a78563412000000
//~ STDOUT: 8 417f341269000000
//~ STDOUT: 3 3f012a
//~ STDOUT: 1 0 1
//~ STDOUT: 2 77 1
//~ STDOUT: 1 5
//~ STDOUT: -5 100
//~ STDOUT: -128 4294967295

// A bit-field that is wider than int has a type of just its width, as gcc has it (clang computes in the declared type, and C
// leaves it open); what was stored to a narrow one is promoted as the bit-field itself is.
//~ SAFE
#include <assert.h>
#include <stdio.h>

struct fields {
    unsigned long b : 33;
    long c : 40;
    unsigned long e : 63;
    unsigned narrow : 3;
    unsigned whole : 32;
} s;

#define SHOW(e) printf("%s = %lx\n", #e, (unsigned long)(e))

int main(void)
{
    s.b = -1;
    s.c = -1;
    s.e = -1;
    assert((s.b << 1) == 0x1fffffffeUL);
#ifdef WRONG
    assert((s.b << 1) == 0x3fffffffeUL); //~ UNSAFE -DWRONG: assertion
#endif
    SHOW(s.b << 1);
    SHOW(s.b + 1);
    SHOW(~s.b);
    SHOW(s.b * s.b);
    SHOW(s.b + s.e);
    SHOW(s.c << 1);
    SHOW(s.b + 1u);
    SHOW(s.c + 1u);
    SHOW(s.b + 1L);
    SHOW(s.b + s.c);
    SHOW(s.c < s.b);
    SHOW(s.b > -1);
    SHOW((0, s.b) << 1);
    SHOW((1 ? s.b : 0) << 1);
    SHOW((1 ? s.b : s.e) << 1);
    SHOW((s.b = -1) << 1);
    SHOW((s.b += 0) << 1);
    SHOW(s.b++);
    SHOW(s.b);
    SHOW(--s.b);
    SHOW(s.b--);
    SHOW(s.c / 3);
    SHOW(-s.c);
    SHOW(!(s.b + 2));
    SHOW(sizeof(s.b + 1));
    printf("%f %f\n", s.b * 1.0, s.c * 1.0);
    printf("%lx %ld\n", s.b, s.c);
    switch (s.b << 1) {
    case 0x1fffffffc: puts("as wide as the field"); break;
    default: puts("wider");
    }
    SHOW((s.narrow = 1) - 2 < 0);
    SHOW((s.narrow += 1) - 7 < 0);
    SHOW((s.narrow++) - 7 < 0);
    SHOW((0, s.narrow) - 7 < 0);
    SHOW((s.whole = 1) - 2 < 0);
    SHOW(({ s.narrow; }) - 7 < 0);
    return 0;
}

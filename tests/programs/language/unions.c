// Unions: shared storage, punning, initialisers, arrays of them.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

union word { uint32_t whole; uint16_t half[2]; uint8_t byte[4]; float real; };
union mixed { char c; struct { int a, b; } s; double d; int array[3]; };
static union word table[] = {{0x01020304}, {.byte = {1, 2, 3, 4}}, {.real = 1.0f}};
static union mixed as_struct = {.s = {1, 2}};

static union word twist(union word w) {
    uint8_t t = w.byte[0];
    w.byte[0] = w.byte[3];
    w.byte[3] = t;
    return w;
}

int main(void) {
    for (int i = 0; i < 3; i++) printf("%08x %04x %02x\n", table[i].whole, table[i].half[1], table[i].byte[0]);
    printf("%08x\n", twist(table[0]).whole);
    printf("%zu %d %d\n", sizeof(union mixed), as_struct.s.b, as_struct.array[1]);
    union mixed m = as_struct;
    m.d = 1.0;
    printf("%x %x\n", m.array[0], m.array[1]);
    m.c = 'q';
    union mixed *p = &m;
    p->s.a = 77;
    printf("%d %c\n", p->s.a, p->c);
    union { float f; uint32_t u; } pun = {.f = -0.5f};
    printf("%08x\n", pun.u);
    pun.u = 0x40490fdb;
    printf("%.6f\n", pun.f);
    struct holder { int tag; union word w; } h = {1, {7}}, copy = h;
    copy.w.half[1] = 1;
    printf("%u %u\n", h.w.whole, copy.w.whole);
    return 0;
}
//~ STDOUT: 01020304 0102 04
//~ STDOUT: 04030201 0403 01
//~ STDOUT: 3f800000 3f80 00
//~ STDOUT: 04020301
//~ STDOUT: 16 2 2
//~ STDOUT: 0 3ff00000
//~ STDOUT: 77 M
//~ STDOUT: bf000000
//~ STDOUT: 3.141593
//~ STDOUT: 7 65543

// Shifts of all widths and bit tricks built from them.
#include <stdint.h>
#include <stdio.h>

static uint32_t rotate(uint32_t v, unsigned n) { return v << (n & 31) | v >> (-n & 31); }
static uint64_t reverse(uint64_t v) {
    uint64_t r = 0;
    for (int i = 0; i < 64; i++, v >>= 1) r = r << 1 | (v & 1);
    return r;
}
static int bits(unsigned v) { int n = 0; while (v) { v &= v - 1; n++; } return n; }
static uint32_t crc(const char *s) {
    uint32_t c = ~0u;
    while (*s) {
        c ^= (unsigned char)*s++;
        for (int i = 0; i < 8; i++) c = c >> 1 ^ (0xedb88320u & -(c & 1));
    }
    return ~c;
}

int main(void) {
    printf("%08x %08x\n", rotate(0x80000001u, 4), rotate(0x12345678u, 0));
    printf("%016llx\n", (unsigned long long)reverse(0x1));
    printf("%d %08x\n", bits(0xf0f0), crc("123456789"));
    printf("%d %u\n", -16 >> 2, 0xfffffff0u >> 2);
    unsigned char c = 0x81;
    printf("%x %x\n", c << 1, (unsigned char)(c << 1));
    printf("%llx\n", 1ULL << 63 | 1);
    int amount = 3;
    long long l = 1;
    l <<= amount + 37;
    printf("%lld\n", l);
    short s = -1;
    s >>= 8;
    printf("%d\n", s);
    printf("%d\n", (0x5a ^ 0xff) & ~0xf | 3);
    return 0;
}
//~ STDOUT: 00000018 12345678
//~ STDOUT: 8000000000000000
//~ STDOUT: 8 cbf43926
//~ STDOUT: -4 1073741820
//~ STDOUT: 102 2
//~ STDOUT: 8000000000000001
//~ STDOUT: 1099511627776
//~ STDOUT: -1
//~ STDOUT: 163

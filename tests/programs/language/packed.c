// Packed structures: no padding, and members at any address.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct __attribute__((packed)) header { char kind; int length; short flags; long long id; };
struct normal { char kind; struct header h; int after; };
struct member { char a; int b __attribute__((packed)); char c; double d; };
#pragma pack(push, 2)
struct two { char a; int b; char c; long d; };
#pragma pack(pop)
struct after_pragma { char a; int b; };
struct __attribute__((packed)) bits { unsigned a : 3; unsigned b : 10; unsigned char c; unsigned d : 20; };

int main(void) {
    printf("%zu %zu %zu\n", sizeof(struct header), offsetof(struct header, length), offsetof(struct header, id));
    printf("%zu %zu\n", sizeof(struct normal), offsetof(struct normal, after));
    printf("%zu %zu\n", sizeof(struct member), offsetof(struct member, b));
    printf("%zu %zu %zu\n", sizeof(struct two), offsetof(struct two, b), offsetof(struct two, d));
    printf("%zu %zu\n", sizeof(struct after_pragma), sizeof(struct bits));
    struct header h[2] = {{'a', 1, 2, 3}, {'b', 0x01020304, -2, -3}};
    h[1].length++;
    printf("%d %d %lld\n", h[1].length, h[1].flags, h[1].id);
    unsigned char raw[sizeof(struct header)];
    memcpy(raw, &h[1], sizeof raw);
    for (unsigned i = 0; i < sizeof raw; i++) printf("%02x", raw[i]);
    puts("");
    struct bits b = {5, 1000, 200, 0xabcde};
    b.b++;
    printf("%u %u %u %x\n", b.a, b.b, b.c, b.d);
    return 0;
}
//~ STDOUT: 15 1 7
//~ STDOUT: 20 16
//~ STDOUT: 16 1
//~ STDOUT: 16 2 8
//~ STDOUT: 8 6
//~ STDOUT: 16909061 -2 -3
//~ STDOUT: 6205030201fefffdffffffffffffff
//~ STDOUT: 5 1001 200 abcde

// `_Alignas`, `_Alignof`, the `aligned` attribute, and what they do to layouts and addresses.
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct line { alignas(64) int counter; char c; };
struct pair { char a; _Alignas(double) char b; };
struct attr { char a; int b __attribute__((aligned(16))); };
typedef int wide_int __attribute__((aligned(32)));
static alignas(128) char buffer[3];
struct __attribute__((aligned)) most { char c; };

static int aligned_to(const void *p, unsigned n) { return (uintptr_t)p % n == 0; }

int main(void) {
    printf("%zu %zu %zu\n", sizeof(struct line), alignof(struct line), offsetof(struct line, c));
    printf("%zu %zu\n", sizeof(struct pair), offsetof(struct pair, b));
    printf("%zu %zu\n", sizeof(struct attr), offsetof(struct attr, b));
    printf("%zu %zu\n", _Alignof(wide_int), sizeof(wide_int));
    printf("%zu %zu %zu %zu\n", alignof(char), alignof(short), alignof(long double), alignof(int[3]));
    printf("%zu\n", alignof(struct most));
    struct line lines[2];
    alignas(32) char local;
    wide_int w = 3;
    lines[1].counter = 1;
    local = 0;
    printf("%d %d %d %d\n", aligned_to(buffer, 128), aligned_to(&lines[1], 64), aligned_to(&local, 32), aligned_to(&w, 32));
    printf("%zu\n", __alignof__(w));
    return 0;
}
//~ STDOUT: 64 64 4
//~ STDOUT: 16 8
//~ STDOUT: 32 16
//~ STDOUT: 32 4
//~ STDOUT: 1 2 16 4
//~ STDOUT: 16
//~ STDOUT: 1 1 1 1
//~ STDOUT: 32

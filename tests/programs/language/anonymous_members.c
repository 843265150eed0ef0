// Members of anonymous structures and unions belong to the structure around them.
#include <stddef.h>
#include <stdio.h>

struct value {
    int kind;
    union {
        long integer;
        struct { short low, high; };
        double real;
    };
    struct { char tail[3]; };
};

static struct value first = {1, {0x20001}, {{'x', 'y'}}};
static struct value second = {.kind = 2, .low = 5, .high = 6, .tail = "ab"};

int main(void) {
    printf("%d %d %d %c\n", first.kind, first.low, first.high, first.tail[1]);
    printf("%ld %c\n", second.integer, second.tail[0]);
    printf("%zu %zu %zu\n", offsetof(struct value, high), offsetof(struct value, tail), sizeof(struct value));
    struct value *p = &second;
    p->real = 0.5;
    p->tail[2] = 'z';
    printf("%.2f %c\n", p->real, p->tail[2]);
    short *high = &first.high;
    *high = 9;
    printf("%lx\n", (unsigned long)first.integer);
    union { struct { unsigned char a, b; }; unsigned short whole; } u = {{1, 2}};
    printf("%d\n", u.whole);
    return 0;
}
//~ STDOUT: 1 1 2 y
//~ STDOUT: 393221 a
//~ STDOUT: 10 16 24
//~ STDOUT: 0.50 z
//~ STDOUT: 90001
//~ STDOUT: 513

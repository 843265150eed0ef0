// Null pointer constants, qualifiers, casts between pointers, and pointers to arrays and functions.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct animal { int legs; };
struct dog { struct animal base; const char *name; };
static int legs(const struct animal *a) { return a->legs; }
static const char *text(int n) { return n ? "some" : NULL; }

int main(void) {
    struct dog d = {{4}, "rex"};
    struct animal *a = (struct animal *)&d;
    printf("%d %s\n", legs(a), ((struct dog *)a)->name);
    int *null1 = 0, *null2 = NULL, *null3 = (void *)0;
    printf("%d %d %d\n", null1 == null2, null3 == 0, !null1);
    printf("%d %s\n", text(0) == 0, text(1));
    const char *s = "abc";
    char *t = (char *)s;
    printf("%d\n", t == s);
    float f = 1.0f;
    unsigned bits;
    memcpy(&bits, &f, sizeof bits);
    printf("%x\n", bits);
    unsigned char *bytes = (unsigned char *)&bits;
    printf("%d %d\n", bytes[3], bytes[2]);
    void *anything = &d;
    struct dog *again = anything;
    printf("%s\n", again->name);
    volatile int v = 3;
    v = v + v;
    printf("%d\n", v);
    char c = 'x';
    long as_long = c;
    printf("%ld %d\n", as_long, (char)0x141);
    int (*array)[3] = &(int[3]){1, 2, 3};
    printf("%d %zu\n", (*array)[1], sizeof *array);
    printf("%d\n", *&*&v);
    printf("%d\n", (&d.base)->legs + (*&d).base.legs);
    return 0;
}
//~ STDOUT: 4 rex
//~ STDOUT: 1 1 1
//~ STDOUT: 1 some
//~ STDOUT: 1
//~ STDOUT: 3f800000
//~ STDOUT: 63 128
//~ STDOUT: rex
//~ STDOUT: 6
//~ STDOUT: 120 65
//~ STDOUT: 2 12
//~ STDOUT: 6
//~ STDOUT: 8

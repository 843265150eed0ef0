// Attributes and GNU spellings in all the places they can stand.
#include <stdio.h>

__attribute__((noinline, unused)) static int f(int a __attribute__((unused)), int b) { return b; }
static int __attribute__((const)) g(int x) { return x * x; }
int h(int) __attribute__((pure, warn_unused_result)), k(void) __attribute__((cold));
struct __attribute__((packed, aligned(2))) s { char c; int i; } __attribute__((unused));
typedef unsigned int word __attribute__((mode(SI)));
typedef int vector_free __attribute__((aligned(8)));
static int variable __attribute__((section(".data"), used)) = 5;
__extension__ typedef long long ll;
static __volatile__ int inl;
static void format(const char *, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void stop(void);
enum e { X __attribute__((deprecated)), Y } __attribute__((packed));

int h(int x) { return x + 1; }
int k(void) { return 2; }
static void format(const char *f, ...) { puts(f); }

int main(void) {
    int x __attribute__((aligned(16), unused)) = 3, y = 4;
    word w = 7;
    __const int c = 8;
    __signed__ char sc = -1;
    switch (x) {
    case 3: x++; __attribute__((fallthrough));
    case 4: x++;
    }
    printf("%d %d %d %d %d\n", f(1, 2), g(3), h(4), k(), variable);
    printf("%zu %u %d %d %d %zu\n", sizeof(struct s), w, c, sc, x, sizeof(enum e));
    format("done %d");
    goto end;
end: __attribute__((unused));
    return inl + y - 4;
}
//~ STDOUT: 2 9 5 2 5
//~ STDOUT: 6 7 8 -1 5 1
//~ STDOUT: done %d

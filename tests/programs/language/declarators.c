// Declarators that take some reading.
#include <stdio.h>

typedef int (*handler)(int);
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static handler pair[2] = {one, two};

static int (*(*get_pair(void))[2])(int) { return &pair; }
static int *(pointers[3]);
static int (*array_pointer)[3];
static char *(*(**deep[2])(void))[4];
static const int *const volatile *p1;
static int *const *restrict p2;
unsigned long int typedef ulong_t;
static long unsigned a1 = 1;
static long long int unsigned a2 = 2;
int static const a3 = 3;
static int (f)(int (x)) { return x; }
static int g(int(int)), h(int (*)(int));
static int g(int k(int)) { return k(10); }
static int h(int (*k)(int)) { return k(20); }
static void (*signal_like(int n, void (*f)(int)))(int) { return n ? f : 0; }
static void sink(int n) { printf("sink %d\n", n); }
typedef struct node node;
struct node { node *next; int v; };
typedef int T;
static int uses_t(T T) { return T * 2; }
typedef int matrix[2][2];

int main(void) {
    int values[3] = {1, 2, 3};
    array_pointer = &values;
    pointers[1] = *array_pointer + 1;
    printf("%d %d\n", (*get_pair())[0](5), (**get_pair()[0])(5));
    printf("%d %zu %zu\n", *pointers[1], sizeof deep, sizeof(ulong_t));
    printf("%lu %llu %d %d\n", a1, a2, a3, f(4));
    printf("%d %d %d %d\n", p1 == 0, p2 == 0, g(one), h(two));
    signal_like(1, sink)(3);
    node last = {0, 9}, first = {&last, 8};
    printf("%d %d\n", first.next->v, uses_t(6));
    matrix m = {{1, 2}, {3, 4}};
    printf("%d %zu\n", m[1][0], sizeof(matrix));
    printf("%zu %zu\n", sizeof(int *[5]), sizeof(int(*)[5]));
    unsigned u = 3; signed sg = -3; long lg = 5; short int sh = 6;
    printf("%u %d %ld %d\n", u, sg, lg, sh);
    return 0;
}
//~ STDOUT: 6 6
//~ STDOUT: 2 16 8
//~ STDOUT: 1 2 3 4
//~ STDOUT: 1 1 11 22
//~ STDOUT: sink 3
//~ STDOUT: 9 12
//~ STDOUT: 3 16
//~ STDOUT: 40 8
//~ STDOUT: 3 -3 5 6

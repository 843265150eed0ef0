// `sizeof` does not evaluate, sees arrays as arrays, and knows every type.
#include <stddef.h>
#include <stdio.h>

struct s { char c; int i; char d; };
struct t { struct s a[3]; short x; };
union u { char c[5]; short s; };
static int f(int parameter[10]) { return sizeof parameter == sizeof(int *); }

int main(void) {
    int x = 1, array[10];
    char text[] = "hello";
    printf("%zu %zu %zu\n", sizeof x++, sizeof array, sizeof(array + 0) / sizeof(void *));
    printf("%d %d\n", x, f(array));
    printf("%zu %zu %zu %zu\n", sizeof(struct s), sizeof(struct t), sizeof(union u), offsetof(struct t, a[2].i));
    printf("%zu %zu %zu\n", sizeof text, sizeof *text, sizeof &text);
    printf("%zu %zu %zu %zu %zu\n", sizeof(char), sizeof(short), sizeof(int), sizeof(long), sizeof(long long));
    printf("%zu %zu %zu %zu\n", sizeof(float), sizeof(double), sizeof(_Bool), sizeof(void *));
    printf("%zu %zu\n", sizeof(void), sizeof(f));
    printf("%zu %zu\n", sizeof sizeof 1, sizeof(char)+1);
    printf("%zu %zu\n", sizeof(int)*2, sizeof(x) - 1);
    printf("%zu\n", sizeof((struct t *)0)->a);
    printf("%d\n", sizeof(int) - 5 > 0);
    return 0;
}
//~ STDOUT: 4 40 1
//~ STDOUT: 1 1
//~ STDOUT: 12 40 6 28
//~ STDOUT: 6 1 8
//~ STDOUT: 1 2 4 8 8
//~ STDOUT: 4 8 1 8
//~ STDOUT: 1 1
//~ STDOUT: 8 2
//~ STDOUT: 8 3
//~ STDOUT: 36
//~ STDOUT: 1

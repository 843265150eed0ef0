// gcc accepts these with a warning; Leno takes them as they are.
#include <stdio.h>
struct a { int x; };
struct b { int x; };
int main(void) {
    struct a value = {3};
    struct b *p = &value;
    int *null = 0;
    char *c = null;
    long address = &value;
    printf("%d %d %d\n", p->x, c == 0, address != 0);
    return 0;
}
//~ STDOUT: 3 1 1

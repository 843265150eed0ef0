// gcc accepts these with a warning, and so does Leno.
#include <stdio.h>
struct a { int x; };
struct b { int x; };
int main(void) {
    struct a value = {3};
    struct b *p = &value; //~ WARN: pointer
    int *null = 0;
    char *c = null; //~ WARN: pointer
    long address = &value; //~ WARN: integer
    printf("%d %d %d\n", p->x, c == 0, address != 0);
    return 0;
}

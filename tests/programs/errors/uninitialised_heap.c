#include <stdlib.h>
int main(void) {
    int *p = malloc(2 * sizeof *p);
    p[0] = 3;
    if (p[1]) //~ VIOLATION: uninitialised
        return 1;
    return 0;
}

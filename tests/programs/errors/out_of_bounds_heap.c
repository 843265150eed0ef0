#include <stdlib.h>
int main(void) {
    char *p = malloc(8);
    p[8] = 'x'; //~ VIOLATION: bounds
    free(p);
}

#include <stdlib.h>
int main(void) {
    char *p = malloc(10);
    free(p + 1); //~ VIOLATION: free
}

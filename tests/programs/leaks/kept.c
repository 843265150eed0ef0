// What a global points to is a leak, but not lost.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ SAFE
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};
static struct node *a, *b;

int main(void) {
    a = malloc(sizeof *a);
    return 0;
}

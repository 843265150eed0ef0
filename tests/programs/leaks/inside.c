// A pointer to the inside keeps the whole object.
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
static long *inside;

int main(void) {
    struct node *n = malloc(sizeof *n);
    inside = &n->value;
    return 0;
}

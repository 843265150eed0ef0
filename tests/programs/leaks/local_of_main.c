// What main has is gone when it returns.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ UNSAFE: lost memory
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};
static struct node *a, *b;

int main(void) {
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    return 0;
}

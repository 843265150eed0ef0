// What main has is still there when it calls exit.
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
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    exit(0);
}

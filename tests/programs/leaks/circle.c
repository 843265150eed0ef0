// Two objects that point to each other are lost if nothing else points to them.
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
    a = malloc(sizeof *a);
    b = malloc(sizeof *b);
    a->next = b;
    b->next = a;
    a = b = 0;
    return 0;
}

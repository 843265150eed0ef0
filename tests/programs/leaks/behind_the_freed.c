// What only a freed object points to is lost.
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
    a->next = malloc(sizeof *a);
    free(a);
    return 0;
}

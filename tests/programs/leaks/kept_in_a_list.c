// What can be reached through other objects is not lost.
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
    a->next = malloc(sizeof *a);
    a->next->next = 0;
    return 0;
}

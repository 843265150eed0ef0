#include <stddef.h>
struct node { int key; struct node *next; };
static int second(struct node *n) {
    return n->next->key; //~ VIOLATION: null
}
int main(void) {
    struct node n = {1, NULL};
    return second(&n);
}

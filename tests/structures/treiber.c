// Treiber's stack. With -DABA, nodes are freed and used again, and the top has no version; with -DLOST, `push` stores the top
// without a comparison.
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;

void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
#ifdef LOST
    atomic_store(&top, node);
#else
    while (!atomic_compare_exchange_strong(&top, &node->next, node))
        ;
#endif
}

int pop(void) {
    struct node *seen = atomic_load(&top);
    while (seen != NULL && !atomic_compare_exchange_strong(&top, &seen, seen->next))
        ;
    if (seen == NULL)
        return -1;
    int value = seen->value;
#ifdef ABA
    free(seen);
#endif
    return value;
}

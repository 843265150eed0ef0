// Treiber's stack with a version counter beside the top; nodes are freed. With -DNO_VERSION the counter is never
// increased; with -DEARLY_FREE a node is freed before it is removed; with -DWRONG_VALUE `pop` returns the value of the next node;
// with -DNO_CHECK `pop` does not look whether the stack is empty.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct top {
    struct node *node;
    uintptr_t version;
};

static _Atomic(struct top) top;

#ifdef NO_VERSION
#define NEXT_VERSION(seen) ((seen).version)
#else
#define NEXT_VERSION(seen) ((seen).version + 1)
#endif

void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct top seen = atomic_load(&top), mine;
    do {
        node->next = seen.node;
        mine.node = node;
        mine.version = NEXT_VERSION(seen);
    } while (!atomic_compare_exchange_strong(&top, &seen, mine));
}

bool pop(int *value) {
    struct top seen = atomic_load(&top), mine;
    do {
#ifndef NO_CHECK
        if (seen.node == NULL)
            return false;
#endif
        mine.node = seen.node->next;
        mine.version = NEXT_VERSION(seen);
#ifdef EARLY_FREE
        free(seen.node);
#endif
    } while (!atomic_compare_exchange_strong(&top, &seen, mine));
#ifdef WRONG_VALUE
    *value = mine.node->value;
#else
    *value = seen.node->value;
#endif
#ifndef EARLY_FREE
    free(seen.node);
#endif
    return true;
}

// The queue of Michael and Scott; removed nodes are left to a garbage collector. With -DDGLM, `dequeue` is that of Doherty, Groves,
// Luchangco and Moir. With -DBLIND_LINK a node is linked without a comparison, with -DNO_HELP a lagging tail is not
// helped on, with -DEARLY_HEAD the head moves without a comparison, with -DVALUE_OF_HEAD the value of the wrong node is returned.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

struct queue {
    _Atomic(struct node *) head, tail;
};

void queue_init(struct queue *queue) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->next, NULL);
    atomic_init(&queue->head, node);
    atomic_init(&queue->tail, node);
}

void enqueue(struct queue *queue, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_store(&node->next, NULL);
    for (;;) {
        struct node *tail = atomic_load(&queue->tail);
        struct node *next = atomic_load(&tail->next);
        if (tail != atomic_load(&queue->tail))
            continue;
        if (next == NULL) {
#ifdef BLIND_LINK
            atomic_store(&tail->next, node);
            atomic_compare_exchange_strong(&queue->tail, &tail, node);
            return;
#else
            if (atomic_compare_exchange_strong(&tail->next, &next, node)) {
                atomic_compare_exchange_strong(&queue->tail, &tail, node);
                return;
            }
#endif
        } else {
#ifndef NO_HELP
            atomic_compare_exchange_strong(&queue->tail, &tail, next);
#endif
        }
    }
}

#ifdef VALUE_OF_HEAD
#define VALUE(head, next) ((head)->value)
#else
#define VALUE(head, next) ((next)->value)
#endif

#ifdef DGLM
bool dequeue(struct queue *queue, int *value) {
    for (;;) {
        struct node *head = atomic_load(&queue->head);
        struct node *next = atomic_load(&head->next);
        if (head != atomic_load(&queue->head))
            continue;
        if (next == NULL)
            return false;
        *value = VALUE(head, next);
        if (atomic_compare_exchange_strong(&queue->head, &head, next)) {
            struct node *tail = atomic_load(&queue->tail);
            if (head == tail)
                atomic_compare_exchange_strong(&queue->tail, &tail, next);
            return true;
        }
    }
}
#else
bool dequeue(struct queue *queue, int *value) {
    for (;;) {
        struct node *head = atomic_load(&queue->head);
        struct node *tail = atomic_load(&queue->tail);
        struct node *next = atomic_load(&head->next);
        if (head != atomic_load(&queue->head))
            continue;
        if (head == tail) {
            if (next == NULL)
                return false;
            atomic_compare_exchange_strong(&queue->tail, &tail, next);
        } else {
            *value = VALUE(head, next);
#ifdef EARLY_HEAD
            atomic_store(&queue->head, next);
            return true;
#else
            if (atomic_compare_exchange_strong(&queue->head, &head, next))
                return true;
#endif
        }
    }
}
#endif

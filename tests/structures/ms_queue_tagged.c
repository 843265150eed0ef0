// The queue of Michael and Scott with version counters beside every pointer; nodes are freed. With -DDGLM, `dequeue` is that of
// Doherty, Groves, Luchangco and Moir. With -DNO_VERSION counters are never increased, with -DNO_CHECK `dequeue` does not look
// whether the head is still what it was, with -DLATE_VALUE it reads the value after it has moved the head, with
// -DFREE_NEXT it frees the wrong node.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct node;

struct link {
    struct node *node;
    uintptr_t version;
};

struct node {
    long value;
    _Atomic(struct link) next;
};

struct queue {
    _Atomic(struct link) head, tail;
};

#ifdef NO_VERSION
#define AFTER(seen, to) ((struct link){(to), (seen).version})
#else
#define AFTER(seen, to) ((struct link){(to), (seen).version + 1})
#endif

static bool same(struct link left, struct link right) {
    return left.node == right.node && left.version == right.version;
}

void queue_init(struct queue *queue) {
    struct node *node = malloc(sizeof *node);
    struct link none = {NULL, 0}, first = {node, 0};
    atomic_init(&node->next, none);
    atomic_init(&queue->head, first);
    atomic_init(&queue->tail, first);
}

void enqueue(struct queue *queue, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    // A node that is used again keeps the version of its link.
    struct link last = atomic_load(&node->next);
    atomic_store(&node->next, ((struct link){NULL, last.version}));
    for (;;) {
        struct link tail = atomic_load(&queue->tail);
        struct link next = atomic_load(&tail.node->next);
        if (!same(tail, atomic_load(&queue->tail)))
            continue;
        if (next.node == NULL) {
            if (atomic_compare_exchange_strong(&tail.node->next, &next, AFTER(next, node))) {
                atomic_compare_exchange_strong(&queue->tail, &tail, AFTER(tail, node));
                return;
            }
        } else {
            atomic_compare_exchange_strong(&queue->tail, &tail, AFTER(tail, next.node));
        }
    }
}

bool dequeue(struct queue *queue, long *value) {
    for (;;) {
        struct link head = atomic_load(&queue->head);
#ifndef DGLM
        struct link tail = atomic_load(&queue->tail);
#endif
        struct link next = atomic_load(&head.node->next);
#ifndef NO_CHECK
        if (!same(head, atomic_load(&queue->head)))
            continue;
#endif
#ifdef DGLM
        if (next.node == NULL)
            return false;
#else
        if (head.node == tail.node) {
            if (next.node == NULL)
                return false;
            atomic_compare_exchange_strong(&queue->tail, &tail, AFTER(tail, next.node));
            continue;
        }
#endif
#ifndef LATE_VALUE
        *value = next.node->value;
#endif
        if (atomic_compare_exchange_strong(&queue->head, &head, AFTER(head, next.node))) {
#ifdef DGLM
            struct link tail = atomic_load(&queue->tail);
            if (head.node == tail.node)
                atomic_compare_exchange_strong(&queue->tail, &tail, AFTER(tail, next.node));
#endif
#ifdef LATE_VALUE
            *value = next.node->value;
#endif
#ifdef FREE_NEXT
            free(next.node);
#else
            free(head.node);
#endif
            return true;
        }
    }
}

// The queue of Michael and Scott: lock-free, first in, first out.
//
// A linked list with a dummy node in front. `enqueue` takes two steps, linking the node and then moving `tail`; between
// them the tail lags behind, and whoever notices helps it along. The node at which an item is linked, not the one at
// which the tail moves, is where the item is in the queue.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node dummy;
static _Atomic(struct node *) head = &dummy;
static _Atomic(struct node *) tail = &dummy;

static void enqueue(struct node *node, int value) {
    node->value = value;
    atomic_store(&node->next, NULL);
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next != NULL) {
            atomic_compare_exchange_strong(&tail, &last, next); // the tail lags: help it along
        } else if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
    }
}

static bool dequeue(int *value) {
    for (;;) {
        struct node *first = atomic_load(&head);
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (next == NULL)
            return false;
        if (first == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        *value = next->value;
        if (atomic_compare_exchange_strong(&head, &first, next))
            return true;
    }
}

static struct node nodes[4];

static void *producer(void *argument) {
    int me = *(int *)argument;
    enqueue(&nodes[2 * me], 10 * me + 1);
    enqueue(&nodes[2 * me + 1], 10 * me + 2);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1}, last_of[2] = {0, 0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, producer, &names[i]);
    for (int received = 0; received < 4;) {
        int value;
        if (!dequeue(&value))
            continue;
        int producer = value / 10;
        assert(value % 10 == last_of[producer] + 1); // each producer's items arrive in its own order
        last_of[producer] = value % 10;
        received++;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int value;
    assert(!dequeue(&value));
    printf("4 items arrived\n");
    return 0;
}

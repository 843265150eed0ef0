// Treiber's stack: lock-free, with one compare-and-swap on the top.
//
// `pop` reads the top, reads its successor, and swings the top from one to the other if it is still the same. "Still the
// same" is the weak spot: had the node been popped, freed and pushed again in the meantime, the successor could be
// stale and the swap succeed all the same (the ABA problem). Here no node is reused while a thread may still look at it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;

static void push(struct node *node, int value) {
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node))
        ; // the failed exchange has put the new top into node->next
}

static struct node *pop(void) {
    struct node *seen = atomic_load(&top);
    while (seen != NULL && !atomic_compare_exchange_weak(&top, &seen, seen->next))
        ;
    return seen;
}

static struct node nodes[4];
static int popped[2];

static void *thread(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 2; i++)
        push(&nodes[2 * me + i], 10 * me + i + 1);
    struct node *node = pop();
    assert(node != NULL); // two of our own were pushed, and the other thread takes only one
    popped[me] = node->value;
    return NULL;
}

int main(void) {
    int names[2] = {0, 1}, total = 0;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &names[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        total += popped[i];
    }
    assert(popped[0] != popped[1]); // nothing is popped twice
    for (struct node *node; (node = pop()) != NULL;)
        total += node->value;
    assert(total == 1 + 2 + 11 + 12); // and nothing is lost
    printf("the values add up to %d\n", total);
    return 0;
}

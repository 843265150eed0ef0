// What is the same wherever objects lie: no SAFE here assumes anything of addresses.
//~ SAFE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    long key;
    struct node *next;
};

static _Atomic uintptr_t head;
static int table[4], sum;

// A list whose links carry a mark in their lowest bit.
static void push(struct node *node)
{
    uintptr_t old = atomic_load(&head);
    do {
        node->next = (struct node *)(old & ~(uintptr_t)1);
    } while (!atomic_compare_exchange_strong(&head, &old, (uintptr_t)node | 1));
}

// A number in the disguise of a pointer.
static void *thread(void *argument)
{
    int number = (int)(long)argument;
    struct node *node = malloc(sizeof *node);
    node->key = number % 3;
    push(node);
    return (void *)(long)(number * 2);
}

int main(void)
{
    pthread_t id;
    struct node own = {5, 0};
    pthread_create(&id, 0, thread, (void *)7l);
    push(&own);
    pthread_join(id, 0);
    for (int *at = table; at < table + 4; at++)
        sum += (int)(at - table);
    assert(sum == 6);
    uintptr_t now = atomic_load(&head);
    assert((now & 1) == 1 && now != 0);
    for (struct node *node = (struct node *)(now - 1), *next; node; node = next) {
        next = node->next;
        assert(node->key % 4 == 1);
        if (node != &own)
            free(node);
    }
    return 0;
}

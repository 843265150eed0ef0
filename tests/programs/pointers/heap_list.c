// Two threads push to a list on the heap, the main thread walks it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};
struct node *head;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *push(void *argument) {
    struct node *node = malloc(sizeof *node);
    node->value = *(int *)argument;
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    node->next = head;
    head = node;
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int values[2] = {1, 2};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, push, &values[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    int sum = 0;
    while (head) {
        struct node *next = head->next;
        sum += head->value;
        free(head);
        head = next;
    }
    assert(sum == 3);
    return 0;
}

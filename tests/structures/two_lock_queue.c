// The queue with two locks by Michael and Scott. With -DONE_LOCK_LESS, `dequeue` takes none.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct node {
    int value;
    struct node *_Atomic next;
} node_t;

typedef struct {
    node_t *head, *tail;
    pthread_mutex_t head_lock, tail_lock;
} queue_t;

void queue_init(queue_t *queue) {
    queue->head = queue->tail = calloc(1, sizeof(node_t));
    pthread_mutex_init(&queue->head_lock, NULL);
    pthread_mutex_init(&queue->tail_lock, NULL);
}

void enqueue(queue_t *queue, int value) {
    node_t *node = calloc(1, sizeof *node);
    node->value = value;
    pthread_mutex_lock(&queue->tail_lock);
    queue->tail->next = node;
    queue->tail = node;
    pthread_mutex_unlock(&queue->tail_lock);
}

bool dequeue(queue_t *queue, int *value) {
#ifndef ONE_LOCK_LESS
    pthread_mutex_lock(&queue->head_lock);
#endif
    node_t *first = queue->head->next;
    if (first != NULL) {
        *value = first->value;
        queue->head = first;
    }
#ifndef ONE_LOCK_LESS
    pthread_mutex_unlock(&queue->head_lock);
#endif
    return first != NULL;
}

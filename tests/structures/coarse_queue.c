// A queue with one lock, and a node in front that holds no value. With -DFREE, removed nodes are freed; with -DLIFO, a new
// node goes to the front.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    long value;
    struct node *next;
};

struct queue {
    struct node *head, *tail;
    pthread_mutex_t lock;
};

void queue_init(struct queue *queue) {
    struct node *node = malloc(sizeof *node);
    node->next = NULL;
    queue->head = queue->tail = node;
    pthread_mutex_init(&queue->lock, NULL);
}

void enqueue(struct queue *queue, long value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = NULL;
    pthread_mutex_lock(&queue->lock);
#ifdef LIFO
    node->next = queue->head->next;
    queue->head->next = node;
#else
    queue->tail->next = node;
    queue->tail = node;
#endif
    pthread_mutex_unlock(&queue->lock);
}

bool dequeue(struct queue *queue, long *value) {
    pthread_mutex_lock(&queue->lock);
    struct node *head = queue->head, *next = head->next;
    if (next != NULL) {
        *value = next->value;
        queue->head = next;
#ifdef FREE
        free(head);
#endif
    }
    pthread_mutex_unlock(&queue->lock);
    return next != NULL;
}

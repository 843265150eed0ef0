// The size of an allocation is read from memory that threads share.
//~ SAFE
#include <pthread.h>
#include <stdlib.h>

#ifdef BUG
#define ROOM(queue) ((queue)->capacity + 1)
#else
#define ROOM(queue) ((queue)->capacity)
#endif

struct queue {
    int capacity, count;
    int *items;
    pthread_mutex_t lock;
};

static struct queue *make(int capacity) {
    struct queue *queue = malloc(sizeof *queue);
    queue->capacity = capacity;
    queue->count = 0;
    queue->items = malloc(queue->capacity * sizeof *queue->items);
    pthread_mutex_init(&queue->lock, NULL);
    return queue;
}

static void put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->lock);
    if (queue->count < ROOM(queue))
        queue->items[queue->count++] = item; //~ UNSAFE -DBUG: access out of bounds
    pthread_mutex_unlock(&queue->lock);
}

static void *work(void *queue) {
    put(queue, 1);
    put(queue, 2);
    return NULL;
}

int main(void) {
    struct queue *queue = make(3);
    pthread_t first, second;
    pthread_create(&first, NULL, work, queue);
    pthread_create(&second, NULL, work, queue);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_mutex_destroy(&queue->lock);
    free(queue->items);
    free(queue);
    return 0;
}

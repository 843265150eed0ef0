// A stack with one lock. With -DFREE, removed nodes are freed; with -DUNLOCKED, `pop` looks at the top before it takes the lock.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *top;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    pthread_mutex_lock(&lock);
    node->next = top;
    top = node;
    pthread_mutex_unlock(&lock);
}

int pop(void) {
#ifdef UNLOCKED
    struct node *seen = top;
    pthread_mutex_lock(&lock);
#else
    pthread_mutex_lock(&lock);
    struct node *seen = top;
#endif
    int value = -1;
    if (seen != NULL) {
        value = seen->value;
        top = seen->next;
#ifdef FREE
        free(seen);
#endif
    }
    pthread_mutex_unlock(&lock);
    return value;
}

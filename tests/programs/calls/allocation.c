// Every call allocates something of its own, and others free it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use after free
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct node *top;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    if (!node)
        abort();
    node->value = value;
    pthread_mutex_lock(&lock);
    node->next = top;
    top = node;
    pthread_mutex_unlock(&lock);
}

static int pop(void) {
    int value = -1;
    pthread_mutex_lock(&lock);
    struct node *node = top;
    if (node) {
        top = node->next;
        value = node->value;
    }
    pthread_mutex_unlock(&lock);
    free(node);
#ifdef BUG
    if (node && value == 3)
        value = node->value;
#endif
    return value;
}

static void *work(void *unused) {
    push(1);
    push(2);
    int last = pop();
    assert(last == 2 || last == 1 || last == 3);
    return unused;
}

int main(void) {
    pthread_t a;
    push(3);
    pthread_create(&a, 0, work, 0);
    int own = pop();
    assert(own > 0);
    pthread_join(a, 0);
    int sum = own + pop() + pop();
    assert(sum <= 6);
    return 0;
}

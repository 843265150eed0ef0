// A stack whose elements belong to its users, and a counter that is read in two halves. With -DTORN, the second half may be of
// another time.
#include <pthread.h>
#include <stddef.h>

struct item {
    struct item *below;
};

struct stack {
    pthread_mutex_t lock;
    struct item *top;
    unsigned low, high;
};

struct stack *stack_new(void) {
    static struct stack only = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &only;
}

void stack_push(struct stack *stack, struct item *item) {
    pthread_mutex_lock(&stack->lock);
    item->below = stack->top;
    stack->top = item;
    stack->low++;
    stack->high++;
    pthread_mutex_unlock(&stack->lock);
}

struct item *stack_pop(struct stack *stack) {
    pthread_mutex_lock(&stack->lock);
    struct item *item = stack->top;
    if (item != NULL)
        stack->top = item->below;
    pthread_mutex_unlock(&stack->lock);
    return item;
}

int stack_pushed(struct stack *stack) {
    pthread_mutex_lock(&stack->lock);
    int low = stack->low;
#ifdef TORN
    pthread_mutex_unlock(&stack->lock);
    pthread_mutex_lock(&stack->lock);
#endif
    int sum = low + stack->high;
    pthread_mutex_unlock(&stack->lock);
    return sum;
}

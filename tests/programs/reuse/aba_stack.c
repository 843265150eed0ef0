// ABA: the thief reads the top of a stack and what is below it. Meanwhile both are popped and freed, and a new node is
// pushed, at the address of the old top. The thief's compare-exchange succeeds, and the top is what was freed.
// With a number beside the top that counts its changes, it fails.
//~ NO-GCC: what it does depends on the allocator
//~ SAFE -DCOUNTED
//~ UNKNOWN -DCOUNTED staged: may be the same
//~ UNKNOWN staged: may be the same
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static struct node *top;
static unsigned changes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_read, has_changed;

/* What a double-width compare-exchange does. */
static int exchange(struct node *expected, unsigned count, struct node *desired)
{
    pthread_mutex_lock(&lock);
#ifdef COUNTED
    int is_same = top == expected && changes == count;
#else
    int is_same = top == expected;
    (void)count;
#endif
    if (is_same) {
        top = desired;
        changes++;
    }
    pthread_mutex_unlock(&lock);
    return is_same;
}

static void push(int value)
{
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = top;
    exchange(top, changes, node);
}

static void pop(void)
{
    struct node *node = top;
    exchange(node, changes, node->next);
    free(node);
}

static void *thief(void *unused)
{
    (void)unused;
    struct node *first = top;
    unsigned count = changes;
    struct node *second = first->next;
    sem_post(&has_read);
    sem_wait(&has_changed);
    if (exchange(first, count, second))
        assert(top->value == 2); //~ UNSAFE: use after free
    return 0;
}

int main(void)
{
    sem_init(&has_read, 0, 0);
    sem_init(&has_changed, 0, 0);
    push(2);
    push(1);
    pthread_t thread;
    pthread_create(&thread, 0, thief, 0);
    sem_wait(&has_read);
    pop();
    pop();
    push(3);
    sem_post(&has_changed);
    pthread_join(thread, 0);
    return 0;
}

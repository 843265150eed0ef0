// Comparisons with null and with variables, and of objects that are freed only when all are allocated, do not tell whether
// memory is given out again: such programs are checked as if it never were.
//~ SAFE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
};

static struct node end;
static struct node *list = &end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pushes(void *unused)
{
    (void)unused;
    struct node *node = malloc(sizeof *node);
    if (!node)
        return 0;
    pthread_mutex_lock(&lock);
    node->next = list;
    assert(node != &end);
    list = node;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, pushes, 0);
    pthread_create(&second, 0, pushes, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(list != list->next);
    while (list != &end) {
        struct node *node = list;
        list = node->next;
        free(node);
    }
    return 0;
}

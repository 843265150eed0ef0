//~ Leak in main
// The program ends before a thread has freed what it allocated.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
};
_Atomic int ready;

void *work(void *unused)
{
    struct node *node = malloc(sizeof *node);
    node->next = malloc(sizeof *node);
    ready = 1;
    free(node->next);
    free(node);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    return 0;
}

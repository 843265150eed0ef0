// Destroying a barrier waits for those who leave it, so that its memory may be freed at once; freeing it alone does not.
//~ UNSAFE -DBUG: use after free
//~ SAFE
#include <pthread.h>
#include <stdlib.h>

pthread_barrier_t *barrier;

void *thread(void *unused)
{
    pthread_barrier_wait(barrier);
    return 0;
}

int main(void)
{
    pthread_t other;
    barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, 0, 2);
    pthread_create(&other, 0, thread, 0);
    pthread_barrier_wait(barrier);
#ifndef BUG
    pthread_barrier_destroy(barrier);
#endif
    free(barrier);
    pthread_join(other, 0);
    return 0;
}

// A thread that waits for a semaphore is cancelled, and its handler runs.
//~ SAFE
//~ UNSAFE -DBUG: deadlock
//~ UNKNOWN staged:
#include <pthread.h>
#include <semaphore.h>
#include <assert.h>

sem_t semaphore;

void clean(void *unused)
{
}

void *waiter(void *unused)
{
#ifdef BUG
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
#endif
    pthread_cleanup_push(clean, 0);
    sem_wait(&semaphore);
    pthread_cleanup_pop(0);
    return 0;
}

int main(void)
{
    pthread_t thread;
    void *result;
    sem_init(&semaphore, 0, 0);
    pthread_create(&thread, 0, waiter, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    return 0;
}

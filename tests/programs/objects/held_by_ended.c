// A thread that ends with a lock holds it for ever: who wants it waits for ever, although main goes on and returns.
//~ PROPERTY: deadlock
//~ UNSAFE -DBUG: deadlock
//~ SAFE
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *holder(void *unused)
{
    pthread_mutex_lock(&mutex);
#ifndef BUG
    pthread_mutex_unlock(&mutex);
#endif
    return 0;
}

void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, holder, 0);
    pthread_join(first, 0);
    pthread_create(&second, 0, waiter, 0);
    return 0;
}

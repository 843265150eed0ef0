// A wait that is not repeated goes on although nobody said so: a deadlock that needs a wake-up without a signal.
//~ PROPERTY: deadlock
//~ UNSAFE -DBUG: deadlock
//~ SAFE
#include <pthread.h>
#include <semaphore.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t never;
int ready;

void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
#ifdef BUG
    if (!ready)
#else
    while (!ready)
#endif
        pthread_cond_wait(&condition, &mutex);
    int was_ready = ready;
    pthread_mutex_unlock(&mutex);
    if (!was_ready)
        sem_wait(&never);
    return 0;
}

int main(void)
{
    pthread_t thread;
    sem_init(&never, 0, 0);
    pthread_create(&thread, 0, waiter, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}

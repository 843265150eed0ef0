// A condition variable may be destroyed right after a broadcast, and not while a thread sleeps on it without a signal.
//~ SAFE
//~ UNKNOWN staged: a condition variable may be destroyed while a thread sleeps on it
//~ UNSAFE -DBUG: destroy of what is in use
//~ UNKNOWN staged -DBUG: a condition variable may be destroyed while a thread sleeps on it
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t *condition;
int state;

void *sleeper(void *unused)
{
    pthread_mutex_lock(&mutex);
    state = 1;
    while (state == 1)
        pthread_cond_wait(condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void)
{
    pthread_t thread;
    condition = malloc(sizeof *condition);
    pthread_cond_init(condition, 0);
    pthread_create(&thread, 0, sleeper, 0);
    pthread_mutex_lock(&mutex);
    int sleeps = state;
    if (sleeps) {
        state = 2;
#ifndef BUG
        pthread_cond_broadcast(condition);
#endif
    }
    pthread_mutex_unlock(&mutex);
    if (!sleeps)
        return 0;
    pthread_cond_destroy(condition);
    free(condition);
    pthread_join(thread, 0);
    return 0;
}

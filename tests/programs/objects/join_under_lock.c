// A thread holds a lock and waits for one that wants it; main goes on.
//~ PROPERTY: deadlock
//~ UNSAFE -DBUG: deadlock
//~ SAFE
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *child(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}

void *parent(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, 0, child, 0);
    pthread_mutex_lock(&mutex);
#ifdef BUG
    pthread_join(thread, 0);
    pthread_mutex_unlock(&mutex);
#else
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
#endif
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, parent, 0);
    return 0;
}

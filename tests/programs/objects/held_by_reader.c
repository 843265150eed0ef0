// The same with a read-write lock, of which one of two readers has ended.
//~ PROPERTY: deadlock
//~ UNSAFE -DBUG: deadlock
//~ SAFE
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

void *reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
#ifndef BUG
    pthread_rwlock_unlock(&lock);
#endif
    return 0;
}

void *writer(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, reader, 0);
    pthread_create(&second, 0, writer, 0);
    pthread_join(first, 0);
    return 0;
}

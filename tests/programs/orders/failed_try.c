// An attempt that fails synchronises with nothing: who sees that a lock is taken knows nothing of what its holder did before. (ThreadSanitizer
// reports the race, too.)
//~ PROPERTY: race
//~ SAFE
//~ UNSAFE -DRACE: data race
#include <errno.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int data;

void *writer(void *unused)
{
    data = 1;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (pthread_mutex_trylock(&m) == EBUSY) {
#ifdef RACE
        data = 2;
#endif
    } else {
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, 0);
    return data - 1;
}

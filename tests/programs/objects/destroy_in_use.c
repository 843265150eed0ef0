// Destroying what is in use, and using what was destroyed.
//~ UNSAFE -DMUTEX: destroy of what is in use
//~ UNSAFE -DSPIN: destroy of what is in use
//~ UNSAFE -DREADERS: destroy of what is in use
//~ UNSAFE -DLOCK: use of a destroyed lock
//~ UNSAFE -DTWICE: use of a destroyed lock
//~ SAFE
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t spin;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

int main(void)
{
    pthread_spin_init(&spin, 0);
    pthread_mutex_lock(&mutex);
#ifdef MUTEX
    pthread_mutex_destroy(&mutex);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_spin_lock(&spin);
#ifdef SPIN
    pthread_spin_destroy(&spin);
#endif
    pthread_spin_unlock(&spin);
    pthread_rwlock_rdlock(&lock);
#ifdef READERS
    pthread_rwlock_destroy(&lock);
#endif
    pthread_rwlock_unlock(&lock);
    pthread_mutex_destroy(&mutex);
#ifdef LOCK
    pthread_mutex_lock(&mutex);
#elif defined TWICE
    pthread_mutex_destroy(&mutex);
#endif
    // Made again, it can be used again.
    pthread_mutex_init(&mutex, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    pthread_spin_destroy(&spin);
    pthread_rwlock_destroy(&lock);
    return 0;
}

// All who wait for a condition variable at the same time must do so with one mutex (POSIX).
//~ NO-REPLAY: the real library does not notice
//~ SAFE
//~ UNSAFE -DMIXED: invalid argument
//~ UNKNOWN -DMIXED staged: different mutexes
//~ SAFE -DONE_BY_ONE
//~ UNKNOWN -DONE_BY_ONE staged: different mutexes
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_open, is_open_again;

static void *wait_first(void *unused)
{
    pthread_mutex_lock(&one);
    if (!is_open)
        pthread_cond_wait(&condition, &one);
    pthread_mutex_unlock(&one);
    return unused;
}

static void *wait_second(void *mutex)
{
    pthread_mutex_lock(mutex);
    if (!is_open_again)
        pthread_cond_wait(&condition, mutex);
    pthread_mutex_unlock(mutex);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, wait_first, 0);
#ifndef ONE_BY_ONE
#ifdef MIXED
    pthread_create(&second, 0, wait_second, &two);
#else
    pthread_create(&second, 0, wait_second, &one);
#endif
#endif
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
    is_open = 1;
#ifndef ONE_BY_ONE
    is_open_again = 1;
#endif
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    pthread_join(first, 0);
#ifdef ONE_BY_ONE
    pthread_create(&second, 0, wait_second, &two);
    pthread_mutex_lock(&two);
    is_open_again = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&two);
#endif
    pthread_join(second, 0);
    return 0;
}

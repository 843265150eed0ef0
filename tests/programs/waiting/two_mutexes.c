// All who wait for a condition variable at the same time must do so with one mutex (POSIX).
//~ NO-REPLAY: the real library does not notice
//~ SAFE
//~ UNSAFE -DMIXED: another mutex
//~ UNKNOWN -DMIXED staged: different mutexes
//~ SAFE -DONE_BY_ONE
//~ UNKNOWN -DONE_BY_ONE staged: different mutexes
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_open;

static void *wait_with(void *mutex)
{
    pthread_mutex_lock(&one);
    if (mutex != &one)
        pthread_mutex_lock(mutex);
    while (!is_open) {
        if (mutex != &one)
            pthread_mutex_unlock(&one);
        pthread_cond_wait(&condition, mutex);
        if (mutex != &one) {
            pthread_mutex_unlock(mutex);
            pthread_mutex_lock(&one);
            pthread_mutex_lock(mutex);
        }
    }
    if (mutex != &one)
        pthread_mutex_unlock(mutex);
    pthread_mutex_unlock(&one);
    return 0;
}

static void open(int value)
{
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
    is_open = value;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, 0, wait_with, &one);
#ifdef ONE_BY_ONE
    open(1);
    pthread_join(first, 0);
    open(0);
#endif
#if defined MIXED || defined ONE_BY_ONE
    pthread_create(&second, 0, wait_with, &two);
#else
    pthread_create(&second, 0, wait_with, &one);
#endif
    open(1);
#ifndef ONE_BY_ONE
    pthread_join(first, 0);
#endif
    pthread_join(second, 0);
    return 0;
}

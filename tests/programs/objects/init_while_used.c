// A mutex, a semaphore or a condition variable that is made while another thread uses it: a race. ThreadSanitizer says so, too.
//~ PROPERTY: race
//~ UNSAFE -DMUTEX: data race
//~ UNSAFE -DSEMAPHORE: data race
//~ UNSAFE -DCONDITION: data race
//~ UNSAFE -DDESTROY: data race
//~ SAFE
#include <pthread.h>
#include <semaphore.h>

pthread_mutex_t mutex;
sem_t semaphore;
pthread_cond_t condition;

void *user(void *unused)
{
#ifdef SEMAPHORE
    sem_post(&semaphore);
#elif defined CONDITION
    pthread_cond_signal(&condition);
#else
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#endif
    return 0;
}

int main(void)
{
    pthread_t thread;
#ifndef MUTEX
    pthread_mutex_init(&mutex, 0);
#endif
    pthread_create(&thread, 0, user, 0);
#ifdef MUTEX
    pthread_mutex_init(&mutex, 0);
#elif defined SEMAPHORE
    sem_init(&semaphore, 0, 0);
#elif defined CONDITION
    pthread_cond_init(&condition, 0);
#elif defined DESTROY
    pthread_mutex_destroy(&mutex);
#endif
    pthread_join(thread, 0);
#ifndef DESTROY
    pthread_mutex_destroy(&mutex);
#endif
    return 0;
}

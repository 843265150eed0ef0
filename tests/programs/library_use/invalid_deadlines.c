// What is no time gives EINVAL: always, or if the thread would have to wait.
//~ SAFE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *another(void *argument) {
    struct timespec bad = {0, -1}, past = {-5, 0};
    assert(pthread_mutex_timedlock(&mutex, &bad) == EINVAL);
    assert(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    assert(pthread_mutex_clocklock(&mutex, 7, &past) == EINVAL);
    return argument;
}

int main(void) {
    struct timespec bad = {0, 1000000000}, past = {-5, 0}, fine = {0, 999999999};
    pthread_t thread;
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    pthread_mutex_lock(&mutex);
    assert(pthread_cond_timedwait(&condition, &mutex, &bad) == EINVAL);
    assert(pthread_cond_clockwait(&condition, &mutex, 7, &fine) == EINVAL);
    pthread_create(&thread, 0, another, 0);
    pthread_join(thread, 0);
    pthread_mutex_unlock(&mutex);
    assert(pthread_mutex_timedlock(&mutex, &bad) == 0);
    assert(pthread_rwlock_timedrdlock(&lock, &bad) == EINVAL);
    assert(pthread_rwlock_timedwrlock(&lock, &bad) == EINVAL);
    assert(pthread_rwlock_timedwrlock(&lock, &fine) == 0);
    errno = 0;
    assert(sem_timedwait(&semaphore, &bad) == -1 && errno == EINVAL);
    assert(sem_timedwait(&semaphore, &fine) == 0);
    errno = 0;
    assert(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    errno = 0;
    assert(nanosleep(&bad, 0) == -1 && errno == EINVAL);
    errno = 0;
    assert(nanosleep(&past, 0) == -1 && errno == EINVAL);
    assert(clock_nanosleep(CLOCK_REALTIME, 0, &bad, 0) == EINVAL);
    assert(thrd_sleep(&bad, 0) == -2);
    assert(nanosleep(&fine, 0) == 0);
    return 0;
}

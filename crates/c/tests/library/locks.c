// Every kind of lock, alone and with errors.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static int serial, after;

static void *try_all(void *unused)
{
    struct timespec soon = {0, 0};
    printf("mutex %d %d\n", pthread_mutex_trylock(&m) == EBUSY, pthread_mutex_timedlock(&m, &soon) == ETIMEDOUT);
    printf("rw %d %d\n", pthread_rwlock_tryrdlock(&rw) == 0, pthread_rwlock_trywrlock(&rw) == EBUSY);
    printf("unlock %d\n", pthread_rwlock_unlock(&rw));
    printf("spin %d\n", pthread_spin_trylock(&spin) == EBUSY);
    return 0;
}

static void *meet(void *unused)
{
    pthread_spin_lock(&spin);
    after++;
    pthread_spin_unlock(&spin);
    int result = pthread_barrier_wait(&barrier);
    pthread_spin_lock(&spin);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD)
        serial++;
    if (after != 3)
        printf("too early\n");
    pthread_spin_unlock(&spin);
    return 0;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t t[3];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &attr);
    printf("recursive %d %d %d\n", pthread_mutex_lock(&m), pthread_mutex_lock(&m), pthread_mutex_trylock(&m));
    pthread_rwlock_rdlock(&rw);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&spin);
    pthread_create(&t[0], NULL, try_all, NULL);
    pthread_join(t[0], NULL);
    pthread_spin_unlock(&spin);
    pthread_rwlock_unlock(&rw);
    printf("%d %d %d\n", pthread_mutex_unlock(&m), pthread_mutex_unlock(&m), pthread_mutex_unlock(&m));
    printf("destroy %d\n", pthread_mutex_destroy(&m));
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &attr);
    printf("checked %d", pthread_mutex_unlock(&m) == EPERM);
    printf(" %d", pthread_mutex_lock(&m));
    printf(" %d\n", pthread_mutex_lock(&m) == EDEADLK);
    pthread_mutex_unlock(&m);
    pthread_mutex_t n = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    printf("static %d", pthread_mutex_lock(&n));
    printf(" %d\n", pthread_mutex_lock(&n));

    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, meet, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("barrier: %d serial\n", serial);
    printf("destroy %d\n", pthread_barrier_destroy(&barrier));

    int value;
    struct timespec past = {0, 0};
    sem_init(&sem, 0, 2);
    printf("sem %d %d", sem_wait(&sem), sem_trywait(&sem));
    errno = 0;
    int result = sem_trywait(&sem);
    printf(" %d %d", result, errno == EAGAIN);
    result = sem_timedwait(&sem, &past);
    printf(" %d %d", result, errno == ETIMEDOUT);
    sem_post(&sem);
    sem_getvalue(&sem, &value);
    printf(" value %d\n", value);
    sem_destroy(&sem);
    return 0;
}

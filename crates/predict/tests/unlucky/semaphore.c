// A semaphore that is used as a lock.
#include <pthread.h>
#include <unistd.h>
#include <semaphore.h>

int x, done;
sem_t s;

static void *first(void *unused)
{
    x = 1;
    sem_wait(&s);
    done++;
    sem_post(&s);
    return 0;
}

static void *second(void *unused)
{
    usleep(20000);
    sem_wait(&s);
    done++;
    sem_post(&s);
    x = 2;
    return 0;
}

int main(void)
{
    sem_init(&s, 0, 1);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

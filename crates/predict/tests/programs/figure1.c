// Figure 1 of Wang, Kundu, Ganai, Gupta (FM 2009): the assertion holds if t1 runs to its end before t2.
// -DSAME makes the two values that are written to x the same, as in section 6.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

int x, y;
sem_t l;

static void *t1(void *unused)
{
    int a = x;
    sem_wait(&l);
#ifdef SAME
    x = 1 + a;
#else
    x = 2 + a;
#endif
    sem_post(&l);
    y = 1 + a;
    sem_wait(&l);
    x = 1 + a;
    sem_post(&l);
    return 0;
}

static void *t2(void *unused)
{
    int b = 0;
    sem_wait(&l);
    if (x > b)
        assert(y == 1);
    sem_post(&l);
    return 0;
}

int main(void)
{
    pthread_t first, second;
    sem_init(&l, 0, 1);
    pthread_create(&first, 0, t1, 0);
    pthread_create(&second, 0, t2, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}

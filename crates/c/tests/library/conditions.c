// A bounded buffer with condition variables, and a wait that times out.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ROOM = 2, COUNT = 12 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[ROOM], used, sum, finished;

static void *produce(void *unused)
{
    for (int i = 1; i <= COUNT; i++) {
        pthread_mutex_lock(&lock);
        while (used == ROOM)
            pthread_cond_wait(&not_full, &lock);
        buffer[used++] = i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *consume(void *unused)
{
    for (int i = 0; i < COUNT; i++) {
        pthread_mutex_lock(&lock);
        while (used == 0)
            pthread_cond_wait(&not_empty, &lock);
        sum += buffer[--used];
        pthread_cond_broadcast(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    pthread_t p, c;
    pthread_cond_init(&not_full, NULL);
    pthread_create(&p, NULL, produce, NULL);
    pthread_create(&c, NULL, consume, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    printf("sum %d used %d\n", sum, used);
    struct timespec past = {0, 0};
    pthread_mutex_lock(&lock);
    printf("timed out: %d\n", pthread_cond_timedwait(&not_empty, &lock, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    printf("destroy %d\n", pthread_cond_destroy(&not_full));
    return 0;
}

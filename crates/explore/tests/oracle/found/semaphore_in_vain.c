// A wait cannot come before the post that it waited for.
#include <pthread.h>
#include <semaphore.h>

sem_t sem;

static void *t1(void *argument) {
    return 0;
}

static void *t0(void *argument) {
    sem_post(&sem);
    return 0;
}

int main(void) {
    sem_init(&sem, 0, 0);
    pthread_t h[2];
    pthread_create(&h[0], 0, t0, 0);
    pthread_create(&h[1], 0, t1, 0);
    sem_wait(&sem);
    return 0;
}

// POSIX semaphores: order between threads, counting, trying.
//~ SEEDS: 20
//~ SAFE
//~ HOLDS
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t ping, pong;

static void *worker(void *arg) {
    for (int i = 0; i < 3; i++) {
        sem_wait(&ping);
        printf("pong ");
        sem_post(&pong);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&t, NULL, worker, NULL);
    for (int i = 0; i < 3; i++) {
        printf("ping ");
        sem_post(&ping);
        sem_wait(&pong);
    }
    pthread_join(t, NULL);
    puts("");
    sem_t counting;
    int value;
    sem_init(&counting, 0, 2);
    int first = sem_trywait(&counting), second = sem_trywait(&counting), third = sem_trywait(&counting);
    int error = errno;
    sem_getvalue(&counting, &value);
    printf("%d %d %d %d %d\n", first, second, third, error == EAGAIN, value);
    sem_post(&counting);
    sem_getvalue(&counting, &value);
    printf("%d\n", value);
    return sem_destroy(&counting);
}
//~ STDOUT: ping pong ping pong ping pong
//~ STDOUT: 0 0 -1 1 0
//~ STDOUT: 1

//~ Deadlock
#include <pthread.h>
#include <semaphore.h>
sem_t a, b;
void *one(void *unused) {
    sem_wait(&a);
    sem_wait(&b);
    sem_post(&b);
    sem_post(&a);
    return 0;
}
int main(void) {
    pthread_t t;
    sem_init(&a, 0, 1);
    sem_init(&b, 0, 1);
    pthread_create(&t, 0, one, 0);
    sem_wait(&b);
    sem_wait(&a);
    sem_post(&a);
    sem_post(&b);
    pthread_join(t, 0);
}

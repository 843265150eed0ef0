//~ HOLDS
/* Two semaphores of one, taken in one order. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#ifndef FIRST
#define FIRST knife
#define SECOND spoon
#endif
static sem_t spoon, knife;
static void *left(void *unused) {
    sem_wait(&spoon);
    sem_wait(&knife);
    sem_post(&knife);
    sem_post(&spoon);
    return unused;
}
static void *right(void *unused) {
    usleep(400000);
    sem_wait(&SECOND);
    sem_wait(&FIRST);
    sem_post(&FIRST);
    sem_post(&SECOND);
    return unused;
}
int main(void) {
    pthread_t one, other;
    sem_init(&spoon, 0, 1);
    sem_init(&knife, 0, 1);
    pthread_create(&one, 0, left, 0);
    pthread_create(&other, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

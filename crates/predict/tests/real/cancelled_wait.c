// A thread is cancelled while it waits.
#include <pthread.h>
#include <stdio.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t waits;
static void undo(void *arg) { (void)arg; pthread_mutex_unlock(&m); puts("cleanup"); }
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(undo, 0);
    sem_post(&waits);
    for (;;) pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return arg;
}
int main(void) {
    pthread_t t; void *r;
    pthread_create(&t, 0, work, 0);
    sem_wait(&waits);
    pthread_cancel(t); pthread_join(t, &r);
    printf("%d\n", r == PTHREAD_CANCELED);
    return 0;
}

// A broadcast wakes everybody; a timed wait ends by itself.
//~ SEEDS: 20
//~ SAFE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int go, awake;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!go) pthread_cond_wait(&start, &lock);
    awake++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    go = 1;
    pthread_cond_broadcast(&start);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    printf("%d\n", awake);
    struct timespec soon = {1, 0};
    pthread_mutex_lock(&lock);
    int r = pthread_cond_timedwait(&never, &lock, &soon);
    printf("%d\n", r == ETIMEDOUT);
    printf("%d\n", pthread_mutex_unlock(&lock));
    return 0;
}
//~ STDOUT: 3
//~ STDOUT: 1
//~ STDOUT: 0

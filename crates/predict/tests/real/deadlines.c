// Timed attempts wait until their deadlines.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static struct timespec in(double d) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); long n = t.tv_nsec + (long)(d * 1e9); t.tv_sec += n / 1000000000; t.tv_nsec = n % 1000000000; return t; }
static void *work(void *arg) {
    struct timespec t = in(0.1); double a = now();
    int r = pthread_mutex_timedlock(&m, &t); printf("lock %d %d\n", r == ETIMEDOUT, now() - a > 0.09);
    t = in(0.1); a = now();
    r = pthread_rwlock_timedwrlock(&rw, &t); printf("rw %d %d\n", r == ETIMEDOUT, now() - a > 0.09);
    t = in(0.1); a = now();
    r = sem_timedwait(&s, &t); printf("sem %d %d\n", r == -1 && errno == ETIMEDOUT, now() - a > 0.09);
    t = in(3); 
    r = sem_timedwait(&s, &t); printf("sem %d\n", r);
    return arg;
}
int main(void) {
    pthread_t t; sem_init(&s, 0, 0);
    pthread_mutex_lock(&m); pthread_rwlock_wrlock(&rw);
    pthread_create(&t, 0, work, 0);
    struct timespec d = { 0, 500000000 }; nanosleep(&d, 0);
    sem_post(&s);
    pthread_join(t, 0);
    return 0;
}

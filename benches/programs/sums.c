// N threads add up an array each and put the sums together under a lock: how much slower is a program that is recorded?
// -DROUNDS=… says how often, -DGRAIN=… how many elements between two critical sections, -DSHARED that all threads add up one array.
#include <pthread.h>
#include <stdio.h>

#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 20000
#endif
#ifndef GRAIN
#define GRAIN 100
#endif

long total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef SHARED
int values[GRAIN];
#endif

static void *worker(void *argument)
{
#ifndef SHARED
    int values[GRAIN];
    for (int i = 0; i < GRAIN; i++)
        values[i] = i + (int)(long)argument;
#endif
    for (int round = 0; round < ROUNDS; round++) {
        unsigned sum = 0;
        for (int i = 0; i < GRAIN; i++)
            sum = sum * 31 + values[i];
        pthread_mutex_lock(&lock);
        total += sum % 1000;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[N];
#ifdef SHARED
    for (int i = 0; i < GRAIN; i++)
        values[i] = i;
#endif
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", total);
    return 0;
}

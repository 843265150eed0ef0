// N threads move money between accounts, each transfer in a critical section: a long run, of N * ROUNDS * 6 events and a few more.
// Two last threads enter their names under the lock and count themselves without it: a race, far from the beginning. Nearly always
// the first of them has ended before the second begins.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifndef N
#define N 4
#endif
#ifndef ROUNDS
#define ROUNDS 1000
#endif
#define ACCOUNTS 16

long accounts[ACCOUNTS];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int names;
int closed;

static void *mover(void *argument)
{
    unsigned state = (unsigned)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 1103515245 + 12345;
        unsigned from = state >> 16 & 15, to = state >> 20 & 15;
        pthread_mutex_lock(&lock);
        accounts[from] -= round;
        accounts[to] += round;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *closer(void *argument)
{
    pthread_mutex_lock(&lock);
    names++;
    pthread_mutex_unlock(&lock);
    closed++;
    return argument;
}

int main(void)
{
    pthread_t threads[N], first, second;
    long sum = 0;
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, mover, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i];
    assert(sum == 0);
    pthread_create(&first, 0, closer, 0);
    usleep(1000);
    pthread_create(&second, 0, closer, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    printf("%ld %d\n", sum, closed);
    return 0;
}

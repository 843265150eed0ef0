// N threads in a ring hand a buffer on to each other by semaphores, twice around, and each works on it in its turn. Is there a data race?
// (No; with -DRACE the last one does not wait for its second turn.) Size: -DN=…
#include <pthread.h>
#include <semaphore.h>

#ifndef N
#define N 4
#endif
#define ROUNDS 2
#define WORDS 4

unsigned buffer[WORDS];
sem_t turn[N];

static unsigned mix(unsigned x)
{
    for (int i = 0; i < 6; i++) {
        if (x & 1)
            x = x ^ 0x9e37u;
        x = (x >> 1) + (x << 3);
    }
    return x;
}

void *worker(void *arg)
{
    int id = (int)(long)arg;
    for (int round = 0; round < ROUNDS; round++) {
#ifdef RACE
        if (id != N - 1 || round == 0)
#endif
            sem_wait(&turn[id]);
        unsigned seed = buffer[0] + (unsigned)id;
        for (int i = 0; i < WORDS; i++)
            buffer[i] = mix(buffer[i] + seed);
        sem_post(&turn[(id + 1) % N]);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        sem_init(&turn[i], 0, i == 0);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

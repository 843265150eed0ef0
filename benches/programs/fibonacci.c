// Two threads add up two variables into one of them, ROUNDS times each; a third looks at both. After a test of GenMC, which has 218,243
// executions with five rounds. Size: -DROUNDS=…
#include <pthread.h>
#include <stdatomic.h>

#define N 3
#ifndef ROUNDS
#define ROUNDS 5
#endif

atomic_int x = 1, y = 1;

void *thread(void *arg)
{
    long i = (long)arg;
    if (i == 2) {
        if (atomic_load(&x) > 144)
            return 0;
        atomic_load(&y);
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        int a = atomic_load(&x);
        int b = atomic_load(&y);
        atomic_store(i == 0 ? &x : &y, a + b);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, thread, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

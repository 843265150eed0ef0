// N threads each raise a variable from their number to the next with one compare-and-swap. A failing one is a read: 2, 5, 14, 43, 144,
// 523, 2,048 and 8,597 executions for N from 2 on. After a test of GenMC. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

atomic_int x;

void *thread(void *arg)
{
    int expected = (int)(long)arg;
    atomic_compare_exchange_strong(&x, &expected, expected + 1);
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

// N threads each try to set a variable with a compare-and-swap, and then write it: 6, 66, 1,200 and 32,880 executions for N from 2
// on. After a test of GenMC. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

atomic_int x;

void *thread(void *arg)
{
    int expected = 0;
    atomic_compare_exchange_strong(&x, &expected, 1);
    atomic_store(&x, (int)(long)arg + 3);
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

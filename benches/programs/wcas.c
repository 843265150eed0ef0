// One thread writes a variable, N - 1 others each try to change what it wrote with a compare-and-swap: (N - 1) * 2^(N - 2) + 1 executions.
// After a test of GenMC. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

atomic_int x;

void *thread(void *arg)
{
    int expected = 2;
    if ((long)arg == 0)
        atomic_store(&x, 2);
    else
        atomic_compare_exchange_strong(&x, &expected, 3);
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

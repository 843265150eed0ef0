// One thread writes a variable K times, N - 1 others each read it once: (K + 1)^(N - 1) executions. Size: -DN=… -DK=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif
#ifndef K
#define K 3
#endif

atomic_int x;
int seen[N];

void *thread(void *arg)
{
    long i = (long)arg;
    if (i > 0)
        seen[i] = atomic_load(&x);
    else
        for (int k = 1; k <= K; k++)
            atomic_store(&x, k);
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

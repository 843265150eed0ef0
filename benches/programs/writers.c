// N threads each write a variable K times: (NK)! / (K!)^N executions. Size: -DN=… -DK=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif

atomic_int x;

void *thread(void *arg)
{
    for (int k = 0; k < K; k++)
        atomic_store(&x, (int)(long)arg);
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

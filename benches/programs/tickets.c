// N threads each draw K tickets from a counter: (NK)! / (K!)^N executions. Size: -DN=… -DK=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif

atomic_int next;
int ticket[N];

void *thread(void *arg)
{
    for (int k = 0; k < K; k++)
        ticket[(long)arg] = atomic_fetch_add(&next, 1);
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

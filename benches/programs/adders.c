// N threads, of which the first READERS read a counter once and the others add to it without looking. Additions commute: one execution
// without readers, 2^(N - 1) with one. Size: -DN=… -DREADERS=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif
#ifndef READERS
#define READERS 1
#endif

atomic_int x, seen[N];

void *thread(void *arg)
{
    long i = (long)arg;
    if (i < READERS)
        atomic_store(&seen[i], atomic_load(&x));
    else
        atomic_fetch_add(&x, 1);
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

// N threads each read a variable and then write it: (N!)^2 executions. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

atomic_int x;

void *thread(void *arg)
{
    int old = atomic_load(&x);
    atomic_store(&x, old + 1);
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

// N threads in a ring each set a flag of their own and read that of the next. A read sees the flag or not, but not all can
// miss it: 2^N - 1 executions. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

atomic_int flag[N];
int seen[N];

void *thread(void *arg)
{
    long i = (long)arg;
    atomic_store(&flag[i], 1);
    seen[i] = atomic_load(&flag[(i + 1) % N]);
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

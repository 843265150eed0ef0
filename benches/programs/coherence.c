// Two threads write one variable and read another one and it; N - 2 others write both of what these read: 4, 15, 130, 2,028 and 49,776 executions
// for N from 2 on. After a test of GenMC. Size: -DN=…
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif

atomic_int x, y, z;

void *thread(void *arg)
{
    long i = (long)arg;
    if (i < 2) {
        atomic_store(&x, (int)i + 1);
        atomic_load(i == 0 ? &y : &z);
        atomic_load(&x);
    } else {
        atomic_store(&y, (int)i);
        atomic_store(&z, (int)i);
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

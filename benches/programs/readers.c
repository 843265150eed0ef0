// One thread writes a variable, N threads read it and write a variable of their own. After Abdulla, Aronis, Jonsson and
// Sagonas, POPL 2014. Size: -DN=…
#include <pthread.h>

#ifndef N
#define N 8
#endif

int x, local[N];

void *reader(void *arg)
{
    long i = (long)arg;
    local[i] = x;
    return 0;
}

void *writer(void *unused)
{
    x = 1;
    return 0;
}

int main(void)
{
    pthread_t threads[N + 1];
    pthread_create(&threads[N], 0, writer, 0);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, reader, (void *)i);
    for (int i = 0; i <= N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

// One thread looks for the last zero of an array from its end; N others each set their element to one more than the
// one before it. After Abdulla, Aronis, Jonsson and Sagonas, POPL 2014. Size: -DN=…
#include <pthread.h>

#ifndef N
#define N 5
#endif

int array[N + 1];

void *reader(void *unused)
{
    int i = N;
    while (array[i] != 0)
        i--;
    return 0;
}

void *writer(void *arg)
{
    long j = (long)arg;
    array[j] = array[j - 1] + 1;
    return 0;
}

int main(void)
{
    pthread_t threads[N + 1];
    pthread_create(&threads[0], 0, reader, 0);
    for (long j = 1; j <= N; j++)
        pthread_create(&threads[j], 0, writer, (void *)j);
    for (int j = 0; j <= N; j++)
        pthread_join(threads[j], 0);
    return 0;
}

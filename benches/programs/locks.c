// N threads each take a lock K times: (NK)! / (K!)^N executions. Size: -DN=… -DK=…
#include <pthread.h>

#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;

void *thread(void *arg)
{
    for (int k = 0; k < K; k++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
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

// The second thread looks at what the first has counted: only the symbolic model knows that it does not matter which count it is.
#include <pthread.h>
#include <unistd.h>

int x, count;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused)
{
    x = 1;
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    return 0;
}

static void *second(void *unused)
{
    usleep(20000);
    pthread_mutex_lock(&m);
    int seen = count;
    pthread_mutex_unlock(&m);
    if (seen < 100)
        x = 2;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

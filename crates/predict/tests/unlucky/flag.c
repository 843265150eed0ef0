// An atomic variable that is read, and whose value does not matter.
#include <pthread.h>
#include <unistd.h>
#include <stdatomic.h>

int x;
atomic_int progress;

static void *first(void *unused)
{
    x = 1;
    atomic_store(&progress, 1);
    return 0;
}

static void *second(void *unused)
{
    usleep(20000);
    int seen = atomic_load(&progress);
    x = 2;
    (void)seen;
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

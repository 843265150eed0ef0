// A counter of events, as statistics have it.
#include <pthread.h>
#include <unistd.h>
#include <stdatomic.h>

int x;
atomic_int count;

static void *first(void *unused)
{
    x = 1;
    atomic_fetch_add(&count, 1);
    return 0;
}

static void *second(void *unused)
{
    usleep(20000);
    atomic_fetch_add(&count, 1);
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

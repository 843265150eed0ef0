// Through a third thread: two locks, neither of which both ends share.
#include <pthread.h>
#include <unistd.h>

int x, one, two;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused)
{
    x = 1;
    pthread_mutex_lock(&m);
    one++;
    pthread_mutex_unlock(&m);
    return 0;
}

static void *relay(void *unused)
{
    usleep(20000);
    pthread_mutex_lock(&m);
    one++;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&n);
    two++;
    pthread_mutex_unlock(&n);
    return 0;
}

static void *second(void *unused)
{
    usleep(40000);
    pthread_mutex_lock(&n);
    two++;
    pthread_mutex_unlock(&n);
    x = 2;
    return 0;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, relay, 0);
    pthread_create(&c, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}

// The same with a spin lock.
#include <pthread.h>
#include <unistd.h>

int x, done;
pthread_spinlock_t s;

static void *first(void *unused)
{
    x = 1;
    pthread_spin_lock(&s);
    done++;
    pthread_spin_unlock(&s);
    return 0;
}

static void *second(void *unused)
{
    usleep(20000);
    pthread_spin_lock(&s);
    done++;
    pthread_spin_unlock(&s);
    x = 2;
    return 0;
}

int main(void)
{
    pthread_spin_init(&s, 0);
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

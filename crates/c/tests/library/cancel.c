// Deferred cancellation: in a loop, asleep on a condition variable, disabled.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned, waiting;

static void clean(void *unused)
{
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *loops(void *unused)
{
    for (;;)
        pthread_testcancel();
    return 0;
}

static void *waits(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean, NULL);
    waiting = 1;
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return 0;
}

static void *refuses(void *unused)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_mutex_lock(&lock);
    waiting = 2;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_testcancel();
    return (void *)9;
}

static void wait_for(int value)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        int seen = waiting;
        pthread_mutex_unlock(&lock);
        if (seen == value)
            return;
        usleep(1);
    }
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, loops, NULL);
    printf("cancel %d\n", pthread_cancel(t));
    pthread_join(t, &result);
    printf("%d\n", result == PTHREAD_CANCELED);
    pthread_create(&t, NULL, waits, NULL);
    wait_for(1);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("%d cleaned %d\n", result == PTHREAD_CANCELED, cleaned);
    pthread_create(&t, NULL, refuses, NULL);
    wait_for(2);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("%ld\n", (long)result);
    return 0;
}

// Creation, joining, detaching, results, attributes, once, addresses of library functions.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_up(void) { total = 100; }

static void *add(void *amount)
{
    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    total += (int)(intptr_t)amount;
    pthread_mutex_unlock(&lock);
    return (void *)((intptr_t)amount * 2);
}

static void leave_deep(int depth)
{
    if (depth == 0)
        pthread_exit((void *)77);
    leave_deep(depth - 1);
}

static void *exits(void *unused)
{
    leave_deep(5);
    return 0;
}

static int detached_ran;
static void *detached(void *unused)
{
    pthread_mutex_lock(&lock);
    detached_ran = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t t[4];
    void *result;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, add, (void *)(intptr_t)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < 4; i++) {
        int error = pthread_join(t[i], i == 3 ? NULL : &result);
        printf("%d %ld\n", error, i == 3 ? -1L : (long)(intptr_t)result);
    }
    pthread_create(&t[0], NULL, exits, NULL);
    pthread_join(t[0], &result);
    printf("total %d, left with %ld\n", total, (long)(intptr_t)result);

    pthread_attr_t attr;
    int state;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_getdetachstate(&attr, &state);
    pthread_create(&t[1], &attr, detached, NULL);
    pthread_attr_destroy(&attr);
    for (;;) {
        pthread_mutex_lock(&lock);
        int done = detached_ran;
        pthread_mutex_unlock(&lock);
        if (done)
            break;
    }
    printf("detached %d, self %d\n", state == PTHREAD_CREATE_DETACHED, pthread_equal(pthread_self(), pthread_self()));

    int (*take)(pthread_mutex_t *) = pthread_mutex_lock;
    void (*give_back)(void *) = free;
    void *(*get)(size_t) = malloc;
    void *memory = get(10);
    take(&lock);
    printf("held: %d\n", pthread_mutex_trylock(&lock));
    give_back(memory);
    return 3;
}

// C11 threads.
#include <stdio.h>
#include <threads.h>
#include <stdlib.h>

static mtx_t lock;
static cnd_t ready;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int count, value, destroyed;

static void once(void) { count++; }
static void destroy(void *memory)
{
    mtx_lock(&lock);
    destroyed++;
    mtx_unlock(&lock);
    free(memory);
}

static int worker(void *arg)
{
    call_once(&flag, once);
    int *own = malloc(sizeof(int));
    *own = *(int *)arg;
    tss_set(key, own);
    mtx_lock(&lock);
    value += *(int *)tss_get(key);
    cnd_signal(&ready);
    mtx_unlock(&lock);
    if (*own == 2)
        thrd_exit(-5);
    return *own * 10;
}

int main(void)
{
    thrd_t t[3];
    int args[3] = {1, 2, 3}, result;
    printf("init %d %d %d\n", mtx_init(&lock, mtx_plain), cnd_init(&ready), tss_create(&key, destroy));
    mtx_lock(&lock);
    for (int i = 0; i < 3; i++)
        printf("create %d\n", thrd_create(&t[i], worker, &args[i]));
    while (value != 6)
        cnd_wait(&ready, &lock);
    mtx_unlock(&lock);
    for (int i = 0; i < 3; i++) {
        int error = thrd_join(t[i], &result);
        printf("join %d %d\n", error, result);
    }
    printf("once %d destroyed %d\n", count, destroyed);
    mtx_t r;
    mtx_init(&r, mtx_recursive);
    printf("recursive %d %d\n", mtx_lock(&r), mtx_trylock(&r));
    mtx_lock(&lock);
    printf("busy %d\n", mtx_trylock(&lock) == thrd_busy);
    thrd_yield();
    printf("equal %d\n", thrd_equal(thrd_current(), thrd_current()) != 0);
    return 0;
}

// <threads.h>: threads, mutexes, condition variables, once, thread-specific storage.
//~ SEEDS: 10
#include <stdio.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int counter, once_runs;
static _Atomic int destroyed;
static thread_local int mine = 3;

static void once_body(void) { once_runs++; }
static void destroy(void *p) { destroyed += *(int *)p; }
static int worker(void *arg) {
    call_once(&flag, once_body);
    mtx_lock(&lock);
    counter += *(int *)arg;
    mine += counter;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    tss_set(key, arg);
    if (*(int *)arg == 2) thrd_exit(40);
    return *(int *)tss_get(key);
}

int main(void) {
    thrd_t a, b;
    int one = 1, two = 2, ra, rb;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    tss_create(&key, destroy);
    if (thrd_create(&a, worker, &one) != thrd_success) return 1;
    if (thrd_create(&b, worker, &two) != thrd_success) return 1;
    mtx_lock(&lock);
    while (counter < 3) cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    thrd_join(a, &ra);
    thrd_join(b, &rb);
    printf("%d %d %d %d %d %d\n", counter, once_runs, ra, rb, mine, destroyed);
    printf("%d\n", mtx_trylock(&lock) == thrd_success);
    mtx_unlock(&lock);
    mtx_t again;
    mtx_init(&again, mtx_plain | mtx_recursive);
    mtx_lock(&again);
    printf("%d\n", mtx_lock(&again) == thrd_success);
    printf("%d\n", thrd_equal(thrd_current(), thrd_current()) != 0);
    thrd_yield();
    mtx_destroy(&lock);
    cnd_destroy(&changed);
    return 0;
}
//~ STDOUT: 3 1 1 40 3 3
//~ STDOUT: 1
//~ STDOUT: 1
//~ STDOUT: 1

// As in known_value_freed.c; the object is freed by `realloc` after a flag was seen, or after an attempt to take a lock failed.
//~ SAFE
//~ UNSAFE -DRELAXED: data race
//~ SAFE -DLOCK
//~ UNSAFE -DLOCK -DTRY: data race
//~ SAFE -DREAD_LOCK
//~ UNSAFE -DREAD_LOCK -DTRY: data race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined LOCK
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define TAKE() pthread_mutex_lock(&lock)
#define TRY_TO_TAKE() pthread_mutex_trylock(&lock)
#define GIVE() pthread_mutex_unlock(&lock)
#else
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define TAKE() pthread_rwlock_wrlock(&lock)
#define TRY_TO_TAKE() pthread_rwlock_tryrdlock(&lock)
#define GIVE() pthread_rwlock_unlock(&lock)
#endif

#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_release
#endif

static int *data;
static atomic_int flag;

static void *reader(void *unused)
{
    assert(*data == 5);
#if defined LOCK || defined READ_LOCK
    TAKE();
    GIVE();
#else
    atomic_store_explicit(&flag, 1, ORDER);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    // (As much as the heap has room for, so that the real `realloc` moves as much.)
    data = calloc(6, sizeof *data);
    *data = 5;
    pthread_create(&thread, 0, reader, 0);
#ifdef TRY
    if (TRY_TO_TAKE()) {
        free(data);
        data = 0;
    } else {
        GIVE();
    }
    pthread_join(thread, 0);
#elif defined LOCK || defined READ_LOCK
    pthread_join(thread, 0);
#else
    int *now = data;
    if (atomic_load_explicit(&flag, memory_order_acquire))
        now = realloc(data, 12 * sizeof *data);
    pthread_join(thread, 0);
    data = now;
#endif
    free(data);
    return 0;
}

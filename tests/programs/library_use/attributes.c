// An attribute object, a name and a set of processors are read by the functions that are given them.
//~ SAFE
//~ UNSAFE -DBUG=1: use after free
//~ UNSAFE -DBUG=2: use after free
//~ UNSAFE -DBUG=3: use after free
//~ UNSAFE -DBUG=4: data race
//~ UNSAFE -DBUG=5: use after free
//~ UNSAFE -DBUG=6: use after free
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char name[16] = "worker";

static void *worker(void *argument) {
#if BUG == 4
    name[0] = 'W';
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_cond_t condition;
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    pthread_attr_t *attributes = malloc(sizeof *attributes);
    pthread_condattr_t *of_condition = malloc(sizeof *of_condition);
    pthread_mutexattr_t *of_mutex = malloc(sizeof *of_mutex);
    pthread_rwlockattr_t *of_lock = malloc(sizeof *of_lock);
    pthread_attr_init(attributes);
    pthread_attr_setstacksize(attributes, 65536);
    pthread_condattr_init(of_condition);
    pthread_mutexattr_init(of_mutex);
    pthread_mutexattr_settype(of_mutex, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_setpshared(of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_rwlockattr_init(of_lock);
#if BUG == 1
    free(attributes);
    pthread_create(&thread, attributes, worker, 0);
#elif BUG == 2
    free(of_condition);
    pthread_cond_init(&condition, of_condition);
#elif BUG == 3
    free(of_lock);
    pthread_rwlock_init(&lock, of_lock);
#elif BUG == 5
    char *text = strdup("thread");
    free(text);
    pthread_setname_np(pthread_self(), text);
#elif BUG == 6
    free(of_mutex);
    pthread_mutexattr_destroy(of_mutex);
#endif
    pthread_create(&thread, attributes, worker, 0);
    pthread_cond_init(&condition, of_condition);
    pthread_rwlock_init(&lock, of_lock);
    pthread_mutex_init(&mutex, of_mutex);
    pthread_mutex_lock(&mutex);
    assert(pthread_mutex_lock(&mutex) == 0);
    pthread_setname_np(thread, name);
    size_t size;
    pthread_attr_getstacksize(attributes, &size);
    assert(size == 65536);
    int shared, kind;
    pthread_mutexattr_getpshared(of_mutex, &shared);
    pthread_mutexattr_gettype(of_mutex, &kind);
    assert(shared == PTHREAD_PROCESS_SHARED && kind == PTHREAD_MUTEX_RECURSIVE);
    pthread_join(thread, 0);
    free(attributes);
    free(of_condition);
    free(of_mutex);
    free(of_lock);
    return 0;
}

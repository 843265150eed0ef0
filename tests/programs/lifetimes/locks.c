// Locks and data of a block: each round has new ones, at the same addresses.
//~ SAFE
//~ UNSAFE -DBUG: use of a dead local object
#include <assert.h>
#include <pthread.h>

struct job {
    pthread_mutex_t *lock;
    int *value;
};

static void *add(void *argument) {
    struct job *job = argument;
    pthread_mutex_lock(job->lock);
    ++*job->value;
    pthread_mutex_unlock(job->lock);
    return 0;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        {
            pthread_mutex_t lock;
            int value = 0;
            pthread_mutex_init(&lock, 0);
            struct job job = {&lock, &value};
            pthread_create(&thread, 0, add, &job);
            add(&job);
#ifndef BUG
            pthread_join(thread, 0);
            assert(value == 2);
            pthread_mutex_destroy(&lock);
#endif
        }
#ifdef BUG
        pthread_join(thread, 0);
#endif
    }
    return 0;
}

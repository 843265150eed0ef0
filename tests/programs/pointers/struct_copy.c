// A struct is copied by value; without the lock the copy can be half old and half new.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

struct range {
    int from, to;
    long stamp;
};
struct range shared = {0, 10, 1};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *move(void *unused) {
    struct range next = {100, 110, 2};
    pthread_mutex_lock(&lock);
    shared = next;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, move, 0);
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    struct range copy = shared;
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    assert(copy.to - copy.from == 10);
    pthread_join(thread, 0);
    return 0;
}

// A function that is called until it succeeds, and whose locals are pointed to.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void fetch(int *found, int *copy) {
    *found = atomic_load(&ready);
    if (copy)
        *copy = *found;
}

static int poll_once(int again) {
    int found = 0;
    int *places[1] = {&found};
    fetch(places[0], again ? places[0] : 0);
    return found;
}

static void *setter(void *argument) {
#ifdef BUG
    atomic_store(&ready, 1);
    data = 3;
#else
    data = 3;
    atomic_store(&ready, 1);
#endif
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    pthread_create(&thread, 0, setter, 0);
    while (!poll_once(0))
        ;
    assert(data == 3); //~ UNSAFE -DBUG: data race
    pthread_join(thread, 0);
    return 0;
}

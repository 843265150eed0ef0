// Neighbouring bit-fields share a word: to write one is to write the other, too.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

struct {
    unsigned ready : 1;
    unsigned count : 3;
#ifndef BUG
    unsigned : 0;
#endif
    unsigned other : 4;
} flags;

static void *set_count(void *unused) {
    flags.count = 5;
    return unused;
}

static void *set_other(void *unused) {
    flags.other = 9;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, set_count, 0);
    pthread_create(&threads[1], 0, set_other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    assert(flags.count == 5 && flags.other == 9);
    return 0;
}

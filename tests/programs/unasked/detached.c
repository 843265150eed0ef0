// A thread is joined that cannot be joined any more.
//~ PROPERTY: assert
//~ SAFE
//~ UNKNOWN -DBUG staged: ends in what was not looked for: invalid thread handle
//~ UNKNOWN -DBUG explore: ends in what was not looked for: invalid thread handle
#include <assert.h>
#include <pthread.h>

static void *run(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
#ifdef BUG
    pthread_detach(t);
#endif
    pthread_join(t, 0);
#ifdef BUG
    assert(0);
#endif
    return 0;
}

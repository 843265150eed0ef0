// A thread joins itself, and goes on with an error.
//~ PROPERTY: assert
//~ SAFE
//~ UNKNOWN -DBUG staged: ends in what was not looked for: invalid thread handle
//~ UNKNOWN -DBUG explore: ends in what was not looked for: invalid thread handle
#include <assert.h>
#include <pthread.h>

pthread_t kept;

static void *run(void *unused) {
#ifdef BUG
    pthread_join(kept, 0);
    assert(0);
#endif
    return unused;
}

int main(void) {
    pthread_create(&kept, 0, run, 0);
#ifdef BUG
    pthread_exit(0);
#endif
    pthread_join(kept, 0);
    return 0;
}

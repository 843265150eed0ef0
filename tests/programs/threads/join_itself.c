// A thread that joins itself: undefined in POSIX. (glibc returns EDEADLK, so that what follows is executed.)
//~ NO-GCC: what glibc returns is not what is looked at
//~ SAFE
//~ SAFE -DTRIES
//~ UNSAFE -DBUG: joins itself
//~ UNSAFE -DTRIES -DBUG: joins itself
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

pthread_t kept;
int done;

void *work(void *unused) {
#ifdef TRIES
    assert(pthread_tryjoin_np(kept, 0) != 0);
#endif
#ifdef BUG
    pthread_join(kept, 0);
#endif
    done = 1;
    return 0;
}

int main(void) {
    pthread_create(&kept, 0, work, 0);
#ifdef BUG
    pthread_exit(0);
#endif
    pthread_join(kept, 0);
    assert(done == 1);
    return 0;
}

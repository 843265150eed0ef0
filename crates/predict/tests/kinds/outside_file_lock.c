// The lock of a stream excludes as any lock.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int x;
static void *work(void *arg) {
#ifndef BUG
    flockfile(stdout);
#endif
    x++;
#ifndef BUG
    funlockfile(stdout);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    flockfile(stdout);
    x++;
    funlockfile(stdout);
    pthread_join(t, 0);
    return 0;
}

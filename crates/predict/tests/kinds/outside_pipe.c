// ThreadSanitizer orders what is before a write to a pipe with what is after the read.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int ends[2], x;
static void *work(void *arg) {
    char c = 1;
#ifdef BUG
    write(ends[1], &c, 1);
    x = 1;
#else
    x = 1;
    write(ends[1], &c, 1);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    char c;
    if (pipe(ends)) return 1;
    pthread_create(&t, 0, work, 0);
    read(ends[0], &c, 1);
#ifdef BUG
    x = 2;
#else
    assert(x == 1);
#endif
    pthread_join(t, 0);
    return 0;
}

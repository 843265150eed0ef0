//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BUG
static int limit = 3;
#else
static int limit = 4;
#endif
static void *work(void *arg) {
    int local = 3;
    assert(local < limit);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

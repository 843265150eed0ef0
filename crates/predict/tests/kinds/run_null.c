//~ HOLDS
//~ PREDICTED -DBUG: null
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int cell, *where = &cell;
static void *work(void *arg) {
#ifdef BUG
    where = 0;
#endif
    *where = 1;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

//~ HOLDS
//~ PREDICTED -DBUG: call of what is not a function
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int one(void) { return 1; }
static int (*volatile function)(void) = one;
static void *work(void *arg) {
#ifdef BUG
    function = 0;
#endif
    function();
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

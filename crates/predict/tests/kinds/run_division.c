//~ HOLDS
//~ PREDICTED -DBUG: division by zero
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int divisor = 2;
static int result;
static void *work(void *arg) {
#ifdef BUG
    divisor = 0;
#endif
    result = 10 / divisor;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

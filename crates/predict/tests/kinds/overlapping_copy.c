//~ HOLDS
//~ PREDICTED -DBUG: overlap
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char buffer[16] = "abcdef";
static volatile int shift = 8;
static void *work(void *arg) {
#ifdef BUG
    shift = 2;
#endif
    memcpy(buffer + shift, buffer, 4);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

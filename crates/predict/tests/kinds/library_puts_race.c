// ThreadSanitizer reports the race.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[8] = "hello";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    text[0] = (char)72;
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    puts(text);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

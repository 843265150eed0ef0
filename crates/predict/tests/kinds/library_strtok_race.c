// ThreadSanitizer does not look into `strtok`, and reports nothing.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[8] = "a,b";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    strtok(text, ",");
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    char c = text[1];
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return c == 100;
}

// ThreadSanitizer reports the race.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char buffer[4] = "ok\n";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    write(1, buffer, 3);
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    buffer[0] = 79;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

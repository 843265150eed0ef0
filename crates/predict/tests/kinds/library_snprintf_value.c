// What a library function writes is seen by reads.
//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char buffer[16] = "7";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    snprintf(buffer, sizeof buffer, "%d", 5);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    char c = buffer[0];
    pthread_mutex_unlock(&m);
#ifdef BUG
    assert(c == 55);
#else
    assert(c == 55 || c == 53);
#endif
    pthread_join(t, 0);
    return 0;
}

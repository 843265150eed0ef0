// ThreadSanitizer reports the race.
//~ UNKNOWN predict: the interpreter cannot follow
//~ UNKNOWN predict -DBUG: the interpreter cannot follow
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char buffer[4];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    FILE *file = fopen("/dev/zero", "r");
    if (!file) return arg;
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    fread(buffer, 1, sizeof buffer, file);
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    fclose(file);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    char c = buffer[1];
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return c;
}

//~ PROPERTY: race
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int compare(const void *a, const void *b) {
#ifndef BUG
    pthread_mutex_lock(&m);
#endif
    compared++;
#ifndef BUG
    pthread_mutex_unlock(&m);
#endif
    return *(const int *)a - *(const int *)b;
}
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    compared++;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    int keys[2] = { 2, 1 };
    pthread_create(&t, 0, work, 0);
    qsort(keys, 2, sizeof keys[0], compare);
    pthread_join(t, 0);
    return 0;
}

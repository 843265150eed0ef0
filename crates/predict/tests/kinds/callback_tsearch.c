// What a function does that is called from outside.
//~ UNKNOWN predict: called from outside
//~ UNKNOWN predict -DBUG: called from outside
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#include <search.h>
static int compare(const void *a, const void *b) {
#ifdef BUG
    compared++;
#else
    pthread_mutex_lock(&m);
    compared++;
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
    static int keys[2] = { 1, 2 };
    void *root = 0;
    pthread_create(&t, 0, work, 0);
    tsearch(&keys[0], &root, compare);
    tsearch(&keys[1], &root, compare);
    pthread_join(t, 0);
    return 0;
}

// What comes after a lock is taken on a way that the run did not go is not looked at.
//~ HOLDS
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int limit = 3;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    int v = x;
    pthread_mutex_unlock(&m);
#ifdef BUG
    enum { WRONG = 1 };
#else
    enum { WRONG = 2 };
#endif
    if (v == WRONG) {
        pthread_mutex_lock(&m);
        int again = x;
        pthread_mutex_unlock(&m);
        assert(again + limit < 4);
    }
    pthread_join(t, 0);
    return 0;
}

// Who comes first initialises; the other thread would do it in another way.
//~ HOLDS: what follows a branch
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int first, made;
static void make(void) { made = first; }
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    if (first == 0) first = 2;
    pthread_mutex_unlock(&m);
    pthread_once(&once, make);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    if (first == 0) first = 1;
    pthread_mutex_unlock(&m);
    pthread_once(&once, make);
#ifdef BUG
    assert(made == 1);
#else
    assert(made == 1 || made == 2);
#endif
    pthread_join(t, 0);
    return 0;
}

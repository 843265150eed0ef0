//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    int tried = pthread_mutex_trylock(&m);
#ifdef BUG
    assert(tried == 0);
#else
    assert(tried == 0 || tried == 16);
#endif
    if (tried == 0) pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}

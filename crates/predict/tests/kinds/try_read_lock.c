//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static void *work(void *arg) {
#ifdef BUG
    pthread_rwlock_wrlock(&l);
#else
    pthread_rwlock_rdlock(&l);
#endif
    pthread_rwlock_unlock(&l);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    assert(pthread_rwlock_tryrdlock(&l) == 0);
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    return 0;
}

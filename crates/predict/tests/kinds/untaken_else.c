//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    if (v != WRONG) {
        v = 0;
    } else {
        char name[8];
        strcpy(name, "abc");
        if (strlen(name) == 3) assert(!"three");
    }
    pthread_join(t, 0);
    return 0;
}

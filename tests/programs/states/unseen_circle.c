// A thread that goes round for ever, unseen by others, is no reason to know nothing of them.
//~ SAFE
#include <pthread.h>

static int shared;

static void *work(void *unused) {
#ifdef BUG
    shared = 3; //~ UNSAFE -DBUG: data race
#endif
    int mine = 1;
    volatile int *own = &mine;
    while (*own)
        ;
    shared = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    shared = 2;
    return 0;
}

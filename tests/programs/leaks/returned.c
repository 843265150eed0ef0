// What a thread has returned is not lost.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ SAFE
#include <pthread.h>
#include <stdlib.h>

static _Atomic int q;

static void *work(void *unused) {
    void *mine = malloc(8);
    q = 1;
    return mine;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}

// A thread that is joined has freed what it had.
//~ PROPERTY: leak
//~ SAFE
//~ PROPERTY: memtrack
//~ SAFE
#include <pthread.h>
#include <stdlib.h>

static _Atomic int q;

static void *work(void *unused) {
    void *mine = malloc(8);
    q = 1;
    free(mine);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}

// Main waits for a flag that the thread sets before it frees.
//~ PROPERTY: leak
//~ UNSAFE: memory leak
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
    while (!q) ;
    return 0;
}

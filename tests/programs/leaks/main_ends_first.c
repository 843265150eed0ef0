// The program may end before a thread has freed what it has.
//~ NO-REPLAY: the real program ends before the thread has allocated, or goes on after the last step
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ SAFE
//~ UNKNOWN staged: a violation was found that the interpreter does not confirm
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
    return 0;
}

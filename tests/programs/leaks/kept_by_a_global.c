// What main keeps in a global and another thread may free too early is a leak.
//~ NO-REPLAY: the real program ends before the thread has allocated, or goes on after the last step
//~ PROPERTY: leak
//~ UNSAFE: memory leak
//~ PROPERTY: memtrack
//~ SAFE
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};
static struct node *a, *b;
static _Atomic int q;

static void *work(void *unused) {
    void *mine = malloc(8);
    q = 1;
    free(mine);
    free(a);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    a = malloc(sizeof *a);
    pthread_exit(0);
    return 0;
}

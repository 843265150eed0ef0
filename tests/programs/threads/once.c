// The routine of a `pthread_once_t` runs once, and is finished when any call returns.
//~ SEEDS: 20
//~ SAFE
//~ HOLDS
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs, ready;

static void prepare(void) {
    runs++;
    ready = 1;
}
static void *worker(void *arg) {
    pthread_once(&once, prepare);
    assert(ready);
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    pthread_once(&once, prepare);
    printf("%d\n", runs);
    return 0;
}
//~ STDOUT: 1

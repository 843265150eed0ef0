//~ Assertion in main.1
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
unsigned char *shared;
void *worker(void *unused) {
    unsigned char first = shared[0], second = shared[1];
    assert(!(first == 5 && second == 1));
    return 0;
}
int main(void) {
    pthread_t t;
    shared = malloc(2);
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
}

//~ UseAfterFree
#include <pthread.h>
#include <stdlib.h>
int *shared;
void *drop(void *unused) { free(shared); return 0; }
int main(void) {
    pthread_t t;
    shared = malloc(sizeof *shared);
    *shared = 7;
    pthread_create(&t, 0, drop, 0);
    int value = *shared;
    pthread_join(t, 0);
    return value;
}

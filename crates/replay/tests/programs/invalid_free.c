//~ InvalidFree in main.1
#include <pthread.h>
#include <stdlib.h>
char *shared;
void *drop(void *unused) { free(shared + 1); return 0; }
int main(void) {
    pthread_t t;
    shared = malloc(10);
    pthread_create(&t, 0, drop, 0);
    pthread_join(t, 0);
}

// One thread frees what the other still reads, in some schedules.
//~ SEEDS: 100
#include <pthread.h>
#include <stdlib.h>
static int *shared;
static void *reader(void *arg) {
    int value = *shared; //~ VIOLATION: free
    (void)value;
    return arg;
}
int main(void) {
    pthread_t t;
    shared = malloc(sizeof *shared);
    *shared = 1;
    pthread_create(&t, NULL, reader, NULL);
    free(shared);
    pthread_join(t, NULL);
    return 0;
}

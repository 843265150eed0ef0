//~ HOLDS
//~ PREDICTED -DBUG: use after free
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int sum;
static void *work(void *arg) {
    int *p = malloc(sizeof *p);
    *p = 1;
#ifdef BUG
    free(p);
    sum = *p;
#else
    sum = *p;
    free(p);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

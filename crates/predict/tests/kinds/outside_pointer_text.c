//~ PROPERTY: race
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[32];
static void *work(void *arg) {
    void *p = 0;
    sscanf(text, "%p", &p);
    if (p) *(int *)p = 2;
    return arg;
}
int main(void) {
    pthread_t t;
    int *p = malloc(sizeof *p);
    *p = 1;
    snprintf(text, sizeof text, "%p", (void *)p);
    pthread_create(&t, 0, work, 0);
#ifdef BUG
    *p = 3;
#endif
    pthread_join(t, 0);
    return 0;
}

//~ PROPERTY: memsafety
//~ HOLDS
//~ PREDICTED -DBUG: use after free
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int sum;
static pthread_t t;
static void *work(void *arg) {
    sum += *(int *)arg;
    return 0;
}
static void begin(void) {
    int value = 3;
    pthread_create(&t, 0, work, &value);
#ifndef BUG
    pthread_join(t, 0);
#endif
}
int main(void) {
    begin();
#ifdef BUG
    pthread_join(t, 0);
#endif
    return 0;
}

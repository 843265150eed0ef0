// ThreadSanitizer reports a use after free.
//~ PROPERTY: memsafety
//~ UNKNOWN predict: the interpreter cannot follow
//~ UNKNOWN predict -DBUG: the interpreter cannot follow
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int ends[2];
static void *work(void *arg) {
    int *p = 0;
    read(ends[0], &p, sizeof p);
    if (p) *p = 2;
    return arg;
}
int main(void) {
    pthread_t t;
    if (pipe(ends)) return 1;
    pthread_create(&t, 0, work, 0);
    int *p = malloc(sizeof *p);
    *p = 1;
    write(ends[1], &p, sizeof p);
#ifdef BUG
    free(p);
    pthread_join(t, 0);
#else
    pthread_join(t, 0);
    free(p);
#endif
    return 0;
}

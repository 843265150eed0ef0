// The recorded run itself writes behind an array (AddressSanitizer: heap-buffer-overflow).
//~ HOLDS
//~ PREDICTED -DBUG: out of bounds
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BUG
enum { MOST = 5 };
#else
enum { MOST = 4 };
#endif
static void *work(void *arg) {
    int *p = malloc(4 * sizeof *p);
    for (int i = 0; i < MOST; i++) p[i] = i;
    free(p);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 0;
}

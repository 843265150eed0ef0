// The recorded run itself frees twice (AddressSanitizer: attempting double-free).
//~ HOLDS
//~ PREDICTED -DBUG: free
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *arg) { return arg; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    char *p = malloc(8);
    free(p);
#ifdef BUG
    free(p);
#endif
    pthread_join(t, 0);
    return 0;
}

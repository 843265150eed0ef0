// ThreadSanitizer and AddressSanitizer report it.
//~ PROPERTY: memsafety
//~ HOLDS
//~ PREDICTED -DBUG: use after free
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *text;
static void *work(void *arg) {
    printf("%d %s\n", 1, text);
    return arg;
}
int main(void) {
    pthread_t t;
    text = malloc(8);
    strcpy(text, "abc");
    pthread_create(&t, 0, work, 0);
#ifdef BUG
    free(text);
    pthread_join(t, 0);
#else
    pthread_join(t, 0);
    free(text);
#endif
    return 0;
}

// asprintf reads the texts that it prints.
//~ NO-REPLAY: what stands behind a va_list is not compared with the real addresses
//~ SAFE
//~ UNKNOWN staged: effects are not encoded
//~ UNSAFE -DBUG: data race
//~ UNKNOWN -DBUG staged: effects are not encoded
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char name[8] = "name";

static void *worker(void *argument) {
#ifdef BUG
    name[1] = 'o';
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    char *text;
    pthread_create(&thread, 0, worker, 0);
    if (asprintf(&text, "%s", name) < 0)
        return 1;
    pthread_join(thread, 0);
    free(text);
    return 0;
}

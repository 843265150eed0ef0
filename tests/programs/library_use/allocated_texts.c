// asprintf and getline allocate memory, which the caller frees.
//~ SAFE
//~ UNSAFE -DBUG=1: use after free
//~ UNSAFE -DBUG=2: data race
//~ UNKNOWN -DBUG=2 staged: effects are not encoded
//~ PROPERTY: leak
//~ UNSAFE -DBUG=3: memory leak
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char name[8] = "name";

static void *worker(void *argument) {
#if BUG == 2
    name[1] = 'o';
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    char *text, *other = strdup("other");
    pthread_create(&thread, 0, worker, 0);
#if BUG == 1
    free(other);
    asprintf(&text, "%s", other);
#elif BUG == 2
    asprintf(&text, "%s", name);
#else
    int length = asprintf(&text, "%s-%d", "one", 25);
    assert(length == 6);
    assert(text[0] != 0 || text[0] == 0);
#endif
    pthread_join(thread, 0);
#if BUG != 3
    free(text);
#endif
    free(other);
    return 0;
}

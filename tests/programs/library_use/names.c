// A name that a function is given is read, even if nothing else is known of the function.
//~ NO-GCC: it opens files
//~ UNSAFE -DBUG=1: use after free
//~ UNKNOWN -DBUG=1 staged: effects are not encoded
//~ UNKNOWN -DBUG=2 staged: effects are not encoded
//~ UNSAFE -DBUG=2: use after free
//~ UNSAFE -DBUG=3: data race
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *name;

static void *worker(void *argument) {
    if (argument)
        name[1] = 'x';
    return 0;
}

int main(void) {
    pthread_t thread;
    name = strdup("/name");
    pthread_create(&thread, 0, worker, name);
#if BUG == 1
    free(name);
    sem_open(name, O_CREAT, 0600, 1);
#elif BUG == 2
    free(name);
    open(name, O_RDONLY);
#elif BUG == 3
    fopen(name, "r");
#endif
    pthread_join(thread, 0);
    return 0;
}

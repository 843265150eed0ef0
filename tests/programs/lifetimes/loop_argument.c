// The classic mistake: each thread gets the address of a variable of the loop's body, which is dead when the round is over.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use of a dead local object
//~ UNSAFE -DBUG: data race
//~ PROPERTY: memsafety
//~ UNSAFE -DBUG: use of a dead local object
#include <pthread.h>

static void *work(void *argument) {
    return (void *)(long)*(int *)argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        int argument = i;
        pthread_create(&threads[i], 0, work, &argument);
#ifndef BUG
        pthread_join(threads[i], 0);
#endif
    }
#ifdef BUG
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
#endif
    return 0;
}

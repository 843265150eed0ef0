// The variable of a `for` loop dies with the loop, not with a round of it.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DBUG: use of a dead local object
#include <pthread.h>

static void *work(void *argument) {
    return (void *)(long)*(int *)argument;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, 0, work, &i);
#ifndef BUG
        pthread_join(thread, 0);
#else
        break;
#endif
    }
#ifdef BUG
    pthread_join(thread, 0);
#endif
    return 0;
}

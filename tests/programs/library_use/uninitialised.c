// Attributes and times that were never initialised.
//~ NO-REPLAY: compiled code cannot tell
//~ SAFE
//~ UNSAFE -DBUG=1: uninitialised
//~ UNSAFE -DBUG=2: uninitialised
//~ UNSAFE -DBUG=3: uninitialised
//~ UNSAFE -DBUG=4: uninitialised
#include <pthread.h>
#include <time.h>

static void *nothing(void *argument) {
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_condattr_t of_condition;
    pthread_cond_t condition;
    struct timespec time;
#if BUG != 1
    pthread_attr_init(&attributes);
#endif
#if BUG != 2
    pthread_condattr_init(&of_condition);
#endif
#if BUG != 3
    time.tv_sec = 0;
#endif
#if BUG != 4
    time.tv_nsec = 0;
#endif
    pthread_create(&thread, &attributes, nothing, 0);
    pthread_cond_init(&condition, &of_condition);
    nanosleep(&time, 0);
    pthread_join(thread, 0);
    return 0;
}

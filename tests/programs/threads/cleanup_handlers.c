// Cleanup handlers run when a thread exits from inside them, in reverse order.
//~ SAFE
//~ HOLDS
#include <pthread.h>
#include <stdio.h>

static void say(void *text) { puts(text); }

static void *worker(void *arg) {
    pthread_cleanup_push(say, "first pushed");
    pthread_cleanup_push(say, "second pushed");
    pthread_cleanup_push(say, "popped and run");
    pthread_cleanup_pop(1);
    if (arg) pthread_exit(arg);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, "yes");
    pthread_join(t, NULL);
    puts("--");
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    return 0;
}
//~ STDOUT: popped and run
//~ STDOUT: second pushed
//~ STDOUT: first pushed
//~ STDOUT: --
//~ STDOUT: popped and run
//~ STDOUT: first pushed

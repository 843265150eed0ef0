// A thread knows its own handle.
//~ SAFE
//~ HOLDS
#include <pthread.h>
#include <stdio.h>

static pthread_t seen;
static void *worker(void *arg) { (void)arg; seen = pthread_self(); return NULL; }

int main(void) {
    pthread_t me = pthread_self(), t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    printf("%d %d %d\n", !!pthread_equal(me, pthread_self()), !!pthread_equal(seen, t), !!pthread_equal(me, t));
    return 0;
}
//~ STDOUT: 1 1 0

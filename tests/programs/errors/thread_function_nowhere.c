// A thread has to start somewhere.
#include <pthread.h>

void *worker(void *argument); //~ WARN: defined nowhere

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0); //~ ERROR: a thread starts in `worker`, which is defined nowhere
    pthread_join(thread, 0);
    return 0;
}

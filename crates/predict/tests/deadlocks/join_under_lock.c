//~ UNSAFE
/* Who waits for the end of a thread must not hold what the thread needs for it. */
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    usleep(400000);
    pthread_mutex_lock(&mutex);
    pthread_join(thread, 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}

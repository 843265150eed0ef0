//~ HOLDS
/* The waiter looks whether the signal has been given already. */
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int given;
static void *waiter(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!given) pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    usleep(400000);
    pthread_mutex_lock(&mutex);
    given = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}

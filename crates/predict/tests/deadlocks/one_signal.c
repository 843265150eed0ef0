//~ UNSAFE
/* Two wait, and each gets a signal; but both signals may be given to the first one that sleeps, while the other one has not come. */
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int asleep;
static void *waiter(void *unused) {
    pthread_mutex_lock(&mutex);
    asleep++;
    pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, waiter, 0);
    pthread_create(&other, 0, waiter, 0);
    usleep(400000);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&ready);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&mutex);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

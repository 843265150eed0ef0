// Nobody ever signals: everybody waits.
//~ VIOLATION: deadlock
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
    return 0;
}

#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_unlock(&m); //~ VIOLATION: unlock
    return 0;
}

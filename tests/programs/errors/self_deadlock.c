// The only thread locks a normal mutex twice.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m); //~ VIOLATION: deadlock
    return 0;
}

// Robust mutexes are refused.
#include <pthread.h>

int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST); //~ ERROR: robust mutexes are not supported
    return 0;
}

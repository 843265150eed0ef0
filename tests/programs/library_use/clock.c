// What the clock says is a time; what is computed from it may be none.
//~ SAFE
//~ UNKNOWN explore: depends on the time of day
//~ UNKNOWN -DBUG staged: not confirm
//~ UNKNOWN -DBUG explore: time of day
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

int main(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
#ifdef BUG
    deadline.tv_nsec += 500000000;
#else
    deadline.tv_nsec += 500000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
#endif
    pthread_mutex_lock(&mutex);
    assert(pthread_cond_timedwait(&condition, &mutex, &deadline) != EINVAL);
    pthread_mutex_unlock(&mutex);
    return 0;
}

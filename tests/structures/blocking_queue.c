// A bounded buffer whose operations wait. With -DONE_CONDITION, producers and consumers wait for the same signal, and a signal may
// wake up a thread of the wrong kind.
#include <pthread.h>

enum { MOST = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int content[MOST], count;

#ifdef ONE_CONDITION
#define not_full not_empty
#endif

void put(int value) {
    pthread_mutex_lock(&lock);
    while (count == MOST)
        pthread_cond_wait(&not_full, &lock);
    content[count++] = value;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

int take(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    int value = content[--count];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return value;
}

// A lock that is tried somewhere says nothing about how often other locks are held.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void *setter(void *argument) {
    pthread_mutex_lock(&mutex);
#ifdef BUG
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    data = 1;
#else
    data = 1;
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
#endif
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    if (pthread_mutex_trylock(&other) == 0)
        pthread_mutex_unlock(&other);
    pthread_create(&thread, 0, setter, 0);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    assert(data == 1); //~ UNSAFE -DBUG: data race
    pthread_join(thread, 0);
    return 0;
}

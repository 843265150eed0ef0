// How often a waiting thread has held its lock can be seen by another one that tries it.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static int try(void) {
    int failed = pthread_mutex_trylock(&mutex) != 0;
    if (!failed)
        pthread_mutex_unlock(&mutex);
    return failed;
}

static void *waiter(void *argument) {
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 3 && !ready; i++)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) { //~ PROPERTY: assert
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    int seen = try() * 4;
    pthread_cond_signal(&changed);
    seen += try() * 2;
    pthread_cond_signal(&changed);
    seen += try();
    assert(seen != 5); //~ UNSAFE: assertion
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}

// One thread makes progress in steps of a tenth, as a float; the other one waits until it is done. Ten tenths are not 1.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static float progress;

static void *work(void *unused) {
    for (int step = 0; step < 10; step++) {
        pthread_mutex_lock(&lock);
        progress += 0.1f;
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    pthread_mutex_lock(&lock);
    while (progress < 0.95f)
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, 0);
#ifdef BUG
    assert(progress == 1.0f);
#else
    assert(progress > 1.0f && progress < 1.000001f);
#endif
    return 0;
}

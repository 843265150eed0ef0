// One thread makes progress in steps of a tenth, and the other one waits for it. Three tenths are not 0.3.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static double progress;

static void *work(void *unused) {
    for (int step = 0; step < 3; step++) {
        pthread_mutex_lock(&lock);
        progress += 0.1;
        pthread_cond_signal(&moved);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    pthread_mutex_lock(&lock);
    while (progress < 0.25)
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, 0);
#ifdef BUG
    assert(progress == 0.3);
#else
    assert(progress > 0.3 && progress < 0.3000001);
#endif
    return 0;
}

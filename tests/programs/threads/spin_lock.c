// Spin locks of the library.
//~ SEEDS: 10
//~ SAFE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_spinlock_t lock;
static int counter;

static void *worker(void *arg) {
    for (int i = 0; i < 5; i++) {
        pthread_spin_lock(&lock);
        counter++;
        pthread_spin_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 10);
    int first = pthread_spin_trylock(&lock), second = pthread_spin_trylock(&lock);
    printf("%d %d %d\n", counter, first, second == EBUSY);
    pthread_spin_unlock(&lock);
    return pthread_spin_destroy(&lock);
}
//~ STDOUT: 10 0 1

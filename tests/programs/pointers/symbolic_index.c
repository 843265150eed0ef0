// An array is read and written at an index that another thread has chosen.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>

int table[4];
unsigned index;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *choose(void *unused) {
    pthread_mutex_lock(&lock);
    index = index * 2 + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fill(void *unused) {
    pthread_mutex_lock(&lock);
    table[index] = 7;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, choose, 0);
    pthread_create(&threads[1], 0, fill, 0);
    pthread_create(&threads[2], 0, choose, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
#ifdef BUG
    assert(table[3] == 0);
#else
    assert(table[0] + table[1] + table[3] == 7 && table[2] == 0);
#endif
    return 0;
}

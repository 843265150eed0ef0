// A buffer is exchanged through a pointer to a pointer; the old one is freed while somebody may still use it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use after free
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int *buffer;
int **const slot = &buffer;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *renew(void *unused) {
    int *fresh = malloc(2 * sizeof *fresh);
    fresh[0] = fresh[1] = 2;
    pthread_mutex_lock(&lock);
    int *old = *slot;
    *slot = fresh;
    free(old);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    buffer = malloc(2 * sizeof *buffer);
    buffer[0] = buffer[1] = 1;
    pthread_create(&thread, 0, renew, 0);
    pthread_mutex_lock(&lock);
    int *mine = *slot;
#ifdef BUG
    pthread_mutex_unlock(&lock);
    int sum = mine[0] + mine[1];
#else
    int sum = mine[0] + mine[1];
    pthread_mutex_unlock(&lock);
#endif
    assert(sum == 2 || sum == 4);
    pthread_join(thread, 0);
    free(buffer);
    return 0;
}

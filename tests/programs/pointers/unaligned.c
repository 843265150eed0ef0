// An int is written through a pointer that is not aligned: it overlaps two others.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

char buffer[16] __attribute__((aligned(8)));
int *_Atomic target;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused) {
    pthread_mutex_lock(&lock);
    *target = 0x01010101;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
#ifdef BUG
    target = (int *)(buffer + 2);
#else
    target = (int *)(buffer + 8);
#endif
    pthread_create(&thread, 0, writer, 0);
    pthread_mutex_lock(&lock);
    int before = *(int *)(buffer + 4);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    assert(before == 0 && *(int *)(buffer + 4) == 0);
    return 0;
}

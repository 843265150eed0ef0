// Bytes of a word are written by one thread and read as a word by another.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

union {
    unsigned word;
    unsigned char bytes[4];
    unsigned short halves[2];
} shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_bytes(void *unused) {
    pthread_mutex_lock(&lock);
    shared.bytes[0] = 1;
    shared.halves[1] = 0x302;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_bytes, 0);
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    unsigned word = shared.word;
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    assert(word == 0 || word == 0x3020001);
    pthread_join(thread, 0);
    return 0;
}

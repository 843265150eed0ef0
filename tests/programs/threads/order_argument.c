// The memory order of an atomic operation is an expression like any other: `++count` is a plain access of both threads.
// (gcc -fsanitize=thread reports the race.)
//~ UNSAFE: data race
//~ SAFE -DLOCKED
#include <pthread.h>

int flag, count;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *thread(void *unused) {
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    __atomic_store_n(&flag, 1, ++count ? __ATOMIC_SEQ_CST : __ATOMIC_RELEASE);
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, thread, 0);
    pthread_create(&two, 0, thread, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}

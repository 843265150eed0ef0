// Attributes and hints that Leno ignores are still evaluated. (gcc -fsanitize=thread reports the race.)
//~ UNSAFE: data race
//~ SAFE -DPRIVATE
#include <pthread.h>

int count;
#ifdef PRIVATE
#define COUNT (&own)
#else
#define COUNT (&count)
#endif

void *null(int *counter) {
    ++*counter;
    return 0;
}

void *thread(void *unused) {
    int own = 0;
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, null(COUNT));
    __builtin_prefetch(null(&own));
    if (__builtin_expect(own, ++own)) pthread_mutex_destroy(&mutex);
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

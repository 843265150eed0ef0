// The address of a global goes through another global to a thread that writes through it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>

int a, b;
int *volatile target = &a;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused) {
    pthread_mutex_lock(&lock);
    *target = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    pthread_mutex_lock(&lock);
    target = &b;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
#ifdef BUG
    assert(a == 0);
#else
    assert(a + b == 5 && a * b == 0);
#endif
    return 0;
}

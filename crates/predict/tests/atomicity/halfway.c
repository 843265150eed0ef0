//~ UNSAFE marked
/* Somebody sees what should have been gone at once: a write, a read of another thread, a write. */
#include <pthread.h>
void leno_expect_atomic_begin(void);
void leno_expect_atomic_end(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int state;
static void set(int value) {
    pthread_mutex_lock(&mutex);
    state = value;
    pthread_mutex_unlock(&mutex);
}
static void *writer(void *unused) {
    leno_expect_atomic_begin();
    set(1);
    set(2);
    leno_expect_atomic_end();
    return unused;
}
static void *reader(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = state;
    pthread_mutex_unlock(&mutex);
    return seen ? unused : 0;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&other, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

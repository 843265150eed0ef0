//~ HOLDS
/* Two writes in a block, and one of another thread: it might as well have come first. */
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
    set(3);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&other, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

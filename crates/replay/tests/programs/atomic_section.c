//~ Assertion in main.2
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int x, y;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *writer(void *unused) {
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_mutex_lock(&lock);
    y = 1;
    pthread_mutex_unlock(&lock);
    __VERIFIER_atomic_end();
    return 0;
}
void *reader(void *unused) {
    pthread_mutex_lock(&lock);
    int a = x, b = y;
    pthread_mutex_unlock(&lock);
    assert(a == b); /* a lock that is taken splits the section */
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, writer, 0);
    pthread_create(&u, 0, reader, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}

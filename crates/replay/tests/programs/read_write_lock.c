//~ Deadlock
#include <pthread.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value;
void *upgrade(void *unused) {
    pthread_rwlock_rdlock(&lock);
    int old = value;
    if (old < 10) pthread_rwlock_wrlock(&lock);
    value = old + 1;
    pthread_rwlock_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, upgrade, 0);
    pthread_create(&u, 0, upgrade, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}

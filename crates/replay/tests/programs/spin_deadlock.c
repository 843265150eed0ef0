//~ Deadlock
#include <pthread.h>
pthread_spinlock_t a, b;
void *one(void *unused) {
    pthread_spin_lock(&a);
    pthread_spin_lock(&b);
    pthread_spin_unlock(&b);
    pthread_spin_unlock(&a);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_spin_init(&a, 0);
    pthread_spin_init(&b, 0);
    pthread_create(&t, 0, one, 0);
    pthread_spin_lock(&b);
    pthread_spin_lock(&a);
    pthread_spin_unlock(&a);
    pthread_spin_unlock(&b);
    pthread_join(t, 0);
}

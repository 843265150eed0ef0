//~ Race
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct { char a, b; int c; } shared;
void *locked(void *unused) {
    pthread_mutex_lock(&lock);
    shared.a = 1;
    shared.c = shared.c + 1;
    pthread_mutex_unlock(&lock);
    return 0;
}
void *careless(void *unused) {
    shared.b = 1;
    shared.c = 5;
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, locked, 0);
    pthread_create(&u, 0, careless, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}

//~ InvalidThread
#include <pthread.h>
pthread_t t;
int joined;
void *nothing(void *unused) { return 0; }
void *joins(void *unused) {
    if (!joined) {
        joined = 1;
        pthread_join(t, 0);
    }
    return 0;
}
int main(void) {
    pthread_t u;
    pthread_create(&t, 0, nothing, 0);
    pthread_create(&u, 0, joins, 0);
    joins(0);
    pthread_join(u, 0);
}

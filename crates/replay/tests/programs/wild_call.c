//~ InvalidCall in main
#include <pthread.h>
void nothing(void) {}
void (*call)(void) = nothing;
void *clear(void *unused) { call = 0; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, clear, 0);
    call();
    pthread_join(t, 0);
}

//~ UseAfterScope in main.1
#include <pthread.h>
int *shared;
volatile int go;
void *reads(void *unused) {
    int *p = shared;
    return p ? (void *)(long)*p : 0;
}
void share(void) {
    int local = 4;
    shared = &local;
    go = 1;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, reads, 0);
    share();
    go = 2;
    pthread_join(t, 0);
}

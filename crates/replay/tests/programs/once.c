//~ Assertion in main
#include <assert.h>
#include <pthread.h>
pthread_once_t once = PTHREAD_ONCE_INIT;
int initialised, users;
void initialise(void) { initialised++; }
void *use(void *unused) {
    pthread_once(&once, initialise);
    assert(initialised == 1);
    users++;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, use, 0);
    use(0);
    pthread_join(t, 0);
    assert(users == 2);
}

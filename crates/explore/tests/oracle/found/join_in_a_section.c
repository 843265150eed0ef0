// While the section waits for the thread to end, everybody can see its first half.
#include <pthread.h>

void reach_error(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

int x;
pthread_t h[2];

static void *sees(void *argument) {
    __VERIFIER_atomic_begin();
    if (x) reach_error();
    __VERIFIER_atomic_end();
    return 0;
}

static void *ends(void *argument) {
    return 0;
}

int main(void) {
    pthread_create(&h[0], 0, ends, 0);
    pthread_create(&h[1], 0, sees, 0);
    __VERIFIER_atomic_begin();
    x = 1;
    pthread_join(h[0], 0);
    x = 0;
    __VERIFIER_atomic_end();
    return 0;
}

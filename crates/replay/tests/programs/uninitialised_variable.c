//~ Assertion in main.1
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
int shared;
int twice(int n) {
    bool b;
    unsigned char c;
    if (n < 2) return twice(n + 1);
    return b ? c : 0;
}
void *worker(void *unused) {
    int seen = shared;
    assert(twice(0) != 9 || seen != 1);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    shared = 1;
    pthread_join(t, 0);
}

//~ StackOverflow in main.1
#include <pthread.h>
int depth(int n) { return depth(n + 1) + 1; }
void *worker(void *unused) { return (void *)(long)depth(0); }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
}

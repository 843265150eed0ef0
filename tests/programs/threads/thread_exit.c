// `pthread_exit` ends a thread from anywhere; from `main` it lets the others finish.
//~ SAFE
//~ HOLDS
#include <pthread.h>
#include <stdio.h>

static void deep(int n) {
    if (n == 0) pthread_exit((void *)99L);
    deep(n - 1);
    puts("never");
}
static void *worker(void *arg) { (void)arg; deep(5); return NULL; }
static void *last(void *arg) {
    void *result;
    pthread_join(*(pthread_t *)arg, &result);
    printf("last %ld\n", (long)result);
    return NULL;
}

int main(void) {
    static pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, last, &a);
    pthread_detach(b);
    pthread_exit(NULL);
}
//~ STDOUT: last 99

// Threads take an argument, return a value, and can create threads themselves.
//~ SAFE
//~ HOLDS
#include <pthread.h>
#include <stdio.h>

static void *leaf(void *arg) { return (void *)((long)arg * 2); }
static void *branch(void *arg) {
    pthread_t left, right;
    void *a, *b;
    pthread_create(&left, NULL, leaf, arg);
    pthread_create(&right, NULL, leaf, (void *)((long)arg + 1));
    pthread_join(left, &a);
    pthread_join(right, &b);
    return (void *)((long)a + (long)b);
}

int main(void) {
    pthread_t t[3];
    long total = 0;
    for (long i = 0; i < 3; i++)
        if (pthread_create(&t[i], NULL, branch, (void *)(i * 10)) != 0) return 1;
    for (int i = 2; i >= 0; i--) {
        void *result;
        if (pthread_join(t[i], &result) != 0) return 2;
        total += (long)result;
    }
    printf("%ld\n", total);
    return 0;
}
//~ STDOUT: 126

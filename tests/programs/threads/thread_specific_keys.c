// Keys: a value for each thread, and a destructor when it ends.
//~ SAFE
//~ HOLDS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key, plain;
static int destroyed;

static void destroy(void *value) {
    destroyed += *(int *)value;
    free(value);
}
static void *worker(void *arg) {
    int *value = malloc(sizeof *value);
    *value = *(int *)arg;
    if (pthread_getspecific(key) != NULL) abort();
    pthread_setspecific(key, value);
    pthread_setspecific(plain, arg);
    return pthread_getspecific(plain);
}

int main(void) {
    int ten = 10, one = 1;
    pthread_t a, b;
    void *ra, *rb;
    pthread_key_create(&key, destroy);
    pthread_key_create(&plain, NULL);
    pthread_setspecific(plain, &destroyed);
    pthread_create(&a, NULL, worker, &ten);
    pthread_join(a, &ra);
    pthread_create(&b, NULL, worker, &one);
    pthread_join(b, &rb);
    printf("%d %d %d\n", destroyed, ra == &ten, rb == &one);
    printf("%d %d\n", pthread_getspecific(plain) == &destroyed, pthread_getspecific(key) == NULL);
    return pthread_key_delete(key);
}
//~ STDOUT: 11 1 1
//~ STDOUT: 1 1

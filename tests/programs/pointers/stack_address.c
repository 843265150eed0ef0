// The address of a local goes to another thread, which may still use it when the function has returned.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use of a dead local object
#include <assert.h>
#include <pthread.h>

static void *add(void *argument) {
    *(int *)argument += 1;
    return 0;
}

static pthread_t start(int *result) {
    pthread_t thread;
    int local = 41;
#ifdef BUG
    pthread_create(&thread, 0, add, &local);
    *result = 42;
#else
    *result = local;
    pthread_create(&thread, 0, add, result);
#endif
    return thread;
}

int main(void) {
    int result;
    pthread_t thread = start(&result);
    pthread_join(thread, 0);
    assert(result == 42);
    return 0;
}

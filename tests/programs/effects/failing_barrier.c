// A barrier for no thread cannot be made; one for two threads can, and can be destroyed.
//~ PROPERTY: assert
//~ SAFE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_barrier_t b;

int main(void) {
    assert(pthread_barrier_init(&b, 0, 0) == EINVAL);
    assert(pthread_barrier_init(&b, 0, 2) == 0);
    assert(pthread_barrier_destroy(&b) == 0);
    return 0;
}

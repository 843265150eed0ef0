// A table of operations in a struct is exchanged while another thread calls through it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>

struct operations {
    int (*apply)(int);
};
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
struct operations doubling = {twice}, squaring = {square};
struct operations *_Atomic current = &doubling;

static void *exchange(void *unused) {
    current = &squaring;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, exchange, 0);
    int result = current->apply(3);
    pthread_join(thread, 0);
#ifdef BUG
    assert(result == 6);
#else
    assert(result == 6 || result == 9);
#endif
    return 0;
}

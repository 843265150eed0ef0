// A weak compare-exchange may fail although it finds what it expects. In a loop that tries again this makes no
// difference; where it is tried once, or failures are counted, it does. (On x86 it never happens: a native run shows
// nothing. C11 7.17.7.4.)
//~ SAFE
//~ UNSAFE -DONCE: assertion violated
//~ UNSAFE -DCOUNTED: assertion violated
//~ UNSAFE -DGCC: assertion violated
//~ SAFE -DSTRONG
//~ SAFE -DSTILL_THERE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static atomic_int lock, sum;
static _Atomic(struct node *) top;
static int inside;

static void enter(void) {
    int expected;
    do {
        expected = 0;
    } while (!atomic_compare_exchange_weak_explicit(&lock, &expected, 1, memory_order_acquire, memory_order_relaxed));
}

static void push(struct node *node) {
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node)) {
    }
}

static void *worker(void *arg) {
    enter();
    inside++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    int seen = atomic_load(&sum);
    while (!atomic_compare_exchange_weak(&sum, &seen, seen + 1)) {
    }
    push(arg);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    struct node nodes[2] = {{1, 0}, {2, 0}};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, &nodes[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(inside == 2 && sum == 2);
    struct node *first = atomic_load(&top);
    assert(first->value + first->next->value == 3);
    int expected = 2;
#if defined ONCE
    _Bool done = atomic_compare_exchange_weak(&sum, &expected, 5);
    assert(done);
#elif defined COUNTED
    int failures = 0;
    while (!atomic_compare_exchange_weak(&sum, &expected, 5))
        failures++;
    assert(failures == 0);
#elif defined GCC
    int plain = 2;
    assert(__atomic_compare_exchange_n(&plain, &expected, 5, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
#elif defined STRONG
    assert(atomic_compare_exchange_strong(&sum, &expected, 5) && sum == 5);
#elif defined STILL_THERE
    // A spurious failure changes nothing, and says what is there.
    if (!atomic_compare_exchange_weak(&sum, &expected, 5))
        assert(expected == 2 && sum == 2);
    else
        assert(sum == 5);
#endif
    return 0;
}

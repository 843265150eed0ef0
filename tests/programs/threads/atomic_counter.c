// Atomic increments are never lost: by operator, function, builtin and compare-exchange loop.
//~ SEEDS: 20
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int by_operator;
static atomic_int by_function;
static int by_builtin, by_sync;
static atomic_int by_loop;

static void *worker(void *arg) {
    for (int i = 0; i < 5; i++) {
        by_operator += 2;
        atomic_fetch_add_explicit(&by_function, 2, memory_order_relaxed);
        __atomic_add_fetch(&by_builtin, 2, __ATOMIC_SEQ_CST);
        __sync_fetch_and_add(&by_sync, 2);
        int seen = atomic_load(&by_loop);
        while (!atomic_compare_exchange_weak(&by_loop, &seen, seen + 2)) ;
    }
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(by_operator == 20 && by_function == 20 && by_builtin == 20 && by_sync == 20 && by_loop == 20);
    printf("%d %d %d %d %d\n", by_operator, by_function, by_builtin, by_sync, by_loop);
    return 0;
}
//~ STDOUT: 20 20 20 20 20

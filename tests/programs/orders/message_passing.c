// Data handed over by a flag: what orders the two accesses is the order of the flag's own.
//~ PROPERTY: race
//~ SAFE -DSTORE=memory_order_release -DLOAD=memory_order_acquire
//~ SAFE -DSTORE=memory_order_release -DLOAD=memory_order_consume
//~ SAFE -DSTORE=memory_order_seq_cst -DLOAD=memory_order_seq_cst
//~ SAFE -DSTORE=memory_order_seq_cst -DLOAD=memory_order_acquire
//~ HOLDS -DSTORE=memory_order_release -DLOAD=memory_order_acquire
//~ UNSAFE -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed: data race
//~ UNSAFE -DSTORE=memory_order_release -DLOAD=memory_order_relaxed: data race
//~ UNSAFE -DSTORE=memory_order_relaxed -DLOAD=memory_order_acquire: data race
//~ PREDICTED -DSTORE=memory_order_relaxed -DLOAD=memory_order_relaxed
//~ PREDICTED -DSTORE=memory_order_relaxed -DLOAD=memory_order_acquire
//~ PREDICTED -DSTORE=memory_order_release -DLOAD=memory_order_relaxed
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#ifndef STORE
#define STORE memory_order_seq_cst
#define LOAD memory_order_seq_cst
#endif

static int data;
static atomic_int ready;

static void *writer(void *unused)
{
    data = 42;
    atomic_store_explicit(&ready, 1, STORE);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, 0, writer, 0);
    usleep(20000); // so that one run shows what may happen
    if (atomic_load_explicit(&ready, LOAD))
        seen = data;
    pthread_join(thread, 0);
    return seen != 0 && seen != 42;
}

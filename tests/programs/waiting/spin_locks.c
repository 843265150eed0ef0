// Locks that spin on an exchange, on a flag or on a trylock: a round that finds the lock taken has changed nothing.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int word;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void lock(int kind) {
    if (kind == 0) {
        while (atomic_exchange(&word, 1))
            ;
    } else if (kind == 1) {
        while (atomic_flag_test_and_set(&flag))
            sched_yield();
    } else if (kind == 2) {
        while (pthread_mutex_trylock(&mutex) != 0)
            ;
    } else {
        for (;;) {
            while (atomic_load(&word))
                ;
            if (!atomic_exchange(&word, 1))
                return;
        }
    }
}

static void unlock(int kind) {
    if (kind == 1)
        atomic_flag_clear(&flag);
    else if (kind == 2)
        pthread_mutex_unlock(&mutex);
    else
        atomic_store(&word, 0);
}

static void *count(void *argument) {
    int kind = *(int *)argument;
    lock(kind);
#ifdef BUG
    unlock(kind);
    counter++; //~ UNSAFE -DBUG: data race
#else
    counter++;
    unlock(kind);
#endif
    return 0;
}

int main(void) { //~ SAFE
    for (int kind = 0; kind < 4; kind++) {
        pthread_t thread;
        counter = 0;
        pthread_create(&thread, 0, count, &kind);
        count(&kind);
        pthread_join(thread, 0);
        assert(counter == 2);
    }
    return 0;
}

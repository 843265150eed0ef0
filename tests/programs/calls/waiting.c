// Functions that wait: in a loop, for a lock that is only tried, on a condition variable, for readers.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int spin, ready;
int guarded, sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static void enter(void) {
    int expected = 0;
    while (!atomic_compare_exchange_strong(&spin, &expected, 1))
        expected = 0;
}

static void leave(void) {
    atomic_store(&spin, 0);
}

static void bump(int by) {
#ifndef BUG
    enter();
#endif
    guarded += by;
#ifndef BUG
    leave();
#endif
}

static void await(int turn) {
    pthread_mutex_lock(&lock);
    while (ready < turn)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void announce(int turn) {
    pthread_mutex_lock(&lock);
    ready = turn;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void read_or_write(int writes) {
    if (writes) {
        pthread_rwlock_wrlock(&table_lock);
        sum++;
    } else {
        pthread_rwlock_rdlock(&table_lock);
        pthread_rwlock_rdlock(&table_lock);
        assert(sum <= 2);
        pthread_rwlock_unlock(&table_lock);
    }
    pthread_rwlock_unlock(&table_lock);
}

static void *first(void *unused) {
    bump(1);
    announce(1);
    read_or_write(1);
    await(2);
    bump(2);
    return unused;
}

static void *second(void *unused) {
    await(1);
    bump(3);
    announce(2);
    read_or_write(0);
    read_or_write(1);
    bump(4);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(guarded == 10 && sum == 2);
    return 0;
}

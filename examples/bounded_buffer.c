// A bounded buffer with two condition variables.
//
// A producer waits while the buffer is full, a consumer while it is empty. Two things make it right: each waits in a
// `while` (a wake-up says that the state may have changed, not that it has), and there is one condition variable for each
// reason to wait, so that a single signal always reaches somebody who can use it. Replace a `while` by an `if` and run it
// with --spurious-wakeups, or use one condition variable for both and add a second consumer, to see them matter.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { CAPACITY = 2, ITEMS = 4 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int items[CAPACITY];
    int count, first;
} buffer = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static void put(int item) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == CAPACITY)
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
    buffer.items[(buffer.first + buffer.count) % CAPACITY] = item;
    buffer.count++;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int take(void) {
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    int item = buffer.items[buffer.first];
    buffer.first = (buffer.first + 1) % CAPACITY;
    buffer.count--;
    pthread_cond_signal(&buffer.not_full);
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *producer(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        put(i * i);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 1; i <= ITEMS; i++)
        assert(take() == i * i);
    pthread_join(thread, NULL);
    assert(buffer.count == 0);
    printf("%d items arrived in order\n", ITEMS);
    return 0;
}

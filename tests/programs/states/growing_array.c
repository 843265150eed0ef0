// An array that any thread makes larger: how much there is to copy depends on who made it.
//~ SAFE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int *items;
static int count, capacity;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(int item) {
    pthread_mutex_lock(&lock);
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 1;
        items = realloc(items, capacity * sizeof *items);
    }
    items[count++] = item;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    put(1);
    put(2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    put(3);
    pthread_join(thread, NULL);
    assert(count == 3);
#ifdef BUG
    assert(items[0] == 1); //~ UNSAFE -DBUG: assertion
#endif
    assert(items[0] + items[1] + items[2] == 6);
    free(items);
    return 0;
}

// A function that calls itself is executed at each call; the one that calls it may have a summary all the same.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int triangle(int n) {
    return n <= 0 ? 0 : n + triangle(n - 1);
}

static void add(int n) {
    int sum = triangle(n);
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    add(1);
    add(2);
    add(3);
    add(2);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#ifdef BUG
    assert(total != 26);
#else
    assert(total == 26);
#endif
    return 0;
}

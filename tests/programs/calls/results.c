// What is returned in a structure or through a pointer is the caller's own: in each call something else.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

struct pair {
    int low, high;
};

int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct pair sorted(int a, int b) {
    struct pair pair = {a, b};
    if (b < a) {
        pair.low = b;
        pair.high = a;
    }
    return pair;
}

static void divide(int a, int b, int *quotient, int *remainder) {
    *quotient = a / b;
#ifdef BUG
    if (a == 17)
        return;
#endif
    *remainder = a % b;
}

static int next(int *state) {
    *state = *state * 5 + 1;
    return *state & 15;
}

static void *work(void *unused) {
    int quotient = 0, remainder = 0, state = 1;
    struct pair first = sorted(3, 2), second = sorted(next(&state), next(&state));
    assert(first.low == 2 && first.high == 3);
    assert(second.low == 6 && second.high == 15);
    divide(13, 5, &quotient, &remainder);
    assert(quotient == 2 && remainder == 3);
    divide(17, 5, &quotient, &remainder);
    assert(quotient == 3 && remainder == 2);
    pthread_mutex_lock(&lock);
    struct pair third = sorted(shared, quotient);
    shared = third.high;
    pthread_mutex_unlock(&lock);
    assert(third.low <= third.high);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared == 3);
    return 0;
}

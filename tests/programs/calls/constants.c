// Constants that are passed decide branches, ends of loops, addresses and what is called.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

int table[4], calls;
static const int weights[] = {1, 10, 100, 1000};
pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static int plus(int a, int b) {
    return a + b;
}

static int minus(int a, int b) {
    return a - b;
}

static void change(int at, int times, int (*how)(int, int), int is_counted) {
    pthread_mutex_lock(&locks[at & 1]);
    for (int i = 0; i < times; i++)
        table[at] = how(table[at], weights[i]);
    if (is_counted)
        calls++;
    pthread_mutex_unlock(&locks[at & 1]);
}

static void *even(void *unused) {
    change(0, 1, plus, 1);
    change(0, 4, plus, 1);
    change(2, 2, plus, 1);
    change(2, 3, minus, 1);
    return unused;
}

static void *odd(void *unused) {
    change(1, 1, plus, 0);
    change(3, 4, plus, 0);
#ifdef BUG
    change(1, 2, minus, 1);
#else
    change(1, 2, minus, 0);
#endif
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, even, 0);
    pthread_create(&b, 0, odd, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(table[0] == 1112 && table[2] == -100 && table[1] == -10 && table[3] == 1111);
    assert(calls == 4);
    return 0;
}

// Stack objects of a function are others at each call, and some of them outlive it in the hands of its caller.
//~ NO-REPLAY: compilers return null instead of the address of a local object, which is another error
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use of a dead local object
#include <assert.h>
#include <pthread.h>

int shared[3];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(int *values, int count, int with) {
    for (int i = 0; i < count; i++)
        values[i] = with + i;
}

static int best(int with) {
    int values[3];
    fill(values, 3, with);
    pthread_mutex_lock(&lock);
    int at = 0;
    for (int i = 0; i < 3; i++) {
        shared[i] += values[i];
        if (shared[i] > shared[at])
            at = i;
    }
    pthread_mutex_unlock(&lock);
    return values[at] - with;
}

static int *kept(int value, int *other) {
    int mine = value;
#ifdef BUG
    if (value == 2)
        return &mine;
#endif
    *other = mine;
    return other;
}

static int value_of(const int *at) {
    return *at;
}

static void *work(void *unused) {
    int a = 0, b = 0;
    assert(best(1) == 2);
    assert(best(5) == 2);
    int *one = kept(1, &a), *two = kept(2, &b);
    assert(value_of(one) == 1 && value_of(&a) == 1 && value_of(two) == 2 && one != two);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(shared[0] == 12 && shared[2] == 20);
    return 0;
}

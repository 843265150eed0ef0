// Peterson's algorithm: Dekker's, made short.
//
// After raising its flag a thread gives the turn away. If both want to enter, whoever gave the turn away last waits.
// The order of the two stores in `enter` is all that matters: swap them, and two threads can get in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
static int balance; // protected by the algorithm itself

static void enter(int me) {
    int other = 1 - me;
    wants[me] = 1;
    turn = other;
    while (wants[other] && turn == other)
        ;
}

static void leave(int me) { wants[me] = 0; }

static void *thread(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < 2; i++) {
        enter(me);
        int seen = balance;
        balance = seen + 1;
        leave(me);
    }
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(balance == 4);
    return 0;
}

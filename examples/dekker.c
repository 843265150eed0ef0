// Dekker's algorithm: mutual exclusion with loads and stores alone.
//
// Each thread raises its flag before it looks at the other's, so that at least one of them sees the conflict; `turn`
// decides who steps back. This rests on sequential consistency: with weaker memory orders both could miss the other's
// flag. What the critical section protects is an ordinary variable; if two threads were ever in it at once, they
// could see each other's half-finished work.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_bool wants[2];
static atomic_int turn;
static int in_critical_section; // protected by the algorithm itself

static void enter(int me) {
    int other = 1 - me;
    wants[me] = 1;
    while (wants[other]) {
        if (turn == me)
            continue;
        wants[me] = 0; // step back until it is our turn
        while (turn != me)
            ;
        wants[me] = 1;
    }
}

static void leave(int me) {
    turn = 1 - me;
    wants[me] = 0;
}

static void *thread(void *argument) {
    int me = *(int *)argument;
    enter(me);
    in_critical_section++;
    assert(in_critical_section == 1);
    in_critical_section--;
    leave(me);
    return NULL;
}

int main(void) {
    int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(in_critical_section == 0);
    return 0;
}

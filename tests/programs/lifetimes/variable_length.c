// An array of variable length dies with its block, what `alloca` gives with the function.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: use of a dead local object
#include <alloca.h>
#include <assert.h>
#include <pthread.h>

int size = 2;

static void *work(void *argument) {
    int *array = argument;
    array[1] += array[0];
    return 0;
}

int main(void) {
    int *stays = 0;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        {
            int array[size];
            array[0] = 1, array[1] = i;
            pthread_create(&thread, 0, work, array);
#ifndef BUG
            pthread_join(thread, 0);
            assert(array[1] == i + 1);
#endif
        }
#ifdef BUG
        pthread_join(thread, 0);
#endif
        int *made = alloca(sizeof *made);
        *made = i;
        if (i == 0)
            stays = made;
    }
    assert(*stays == 0);
    return 0;
}

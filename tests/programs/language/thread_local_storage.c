// `__thread` and `_Thread_local`: one copy for each thread, initialised afresh.
#include <pthread.h>
#include <stdio.h>

static __thread int mine = 5;
_Thread_local int shared_name[3] = {1, 2, 3};
static _Thread_local int *pointer;
extern __thread int later;

static void *worker(void *arg) {
    static __thread int calls;
    mine += *(int *)arg;
    shared_name[1] += mine;
    pointer = &mine;
    calls++;
    later--;
    return (void *)(long)(*pointer * 100 + shared_name[1] + calls * 10000 + later * 100000);
}

__thread int later = 3;

int main(void) {
    int ten = 10, twenty = 20;
    pthread_t a, b;
    void *ra, *rb;
    pthread_create(&a, 0, worker, &ten);
    pthread_create(&b, 0, worker, &twenty);
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    printf("%ld %ld\n", (long)ra, (long)rb);
    printf("%ld\n", (long)worker(&ten));
    printf("%ld\n", (long)worker(&ten));
    printf("%d %d\n", mine, shared_name[1]);
    return 0;
}
//~ STDOUT: 211517 212527
//~ STDOUT: 211517
//~ STDOUT: 122542
//~ STDOUT: 25 42

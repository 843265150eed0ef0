// The queue of Herlihy and Wing with four threads that enqueue and dequeue twice in all; a dequeue that finds
// nothing gives up. After a test of GenMC: 43,732 executions.
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);

#define MAX 42

atomic_int items[MAX], back;

void enqueue(int item)
{
    int k = atomic_fetch_add(&back, 1);
    atomic_store(&items[k], item);
}

int dequeue(void)
{
    int range = atomic_load(&back);
    int item = 0;
    for (int k = 0; item == 0; k++) {
        __VERIFIER_assume(k < range);
        item = atomic_exchange(&items[k], 0);
    }
    return item;
}

void *first(void *unused)
{
    enqueue(1);
    dequeue();
    return 0;
}

void *second(void *unused)
{
    enqueue(2);
    enqueue(3);
    return 0;
}

void *third(void *unused)
{
    dequeue();
    enqueue(4);
    return 0;
}

void *fourth(void *unused)
{
    dequeue();
    dequeue();
    return 0;
}

int main(void)
{
    void *(*starts[4])(void *) = {first, second, third, fourth};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, starts[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}

// A semaphore that is polled.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t items;
static int data;

static void *producer(void *argument) {
#ifdef BUG
    sem_post(&items);
    data = 5;
#else
    data = 5;
    sem_post(&items);
#endif
    return argument;
}

int main(void) { //~ SAFE
    pthread_t thread;
    sem_init(&items, 0, 0);
    pthread_create(&thread, 0, producer, 0);
    while (sem_trywait(&items) != 0)
        usleep(100);
    assert(data == 5); //~ UNSAFE -DBUG: data race
    pthread_join(thread, 0);
    return 0;
}

//~ HOLDS
//~ PREDICTED -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <semaphore.h>
static sem_t s;
static void *work(void *arg) {
    sem_post(&s);
    return arg;
}
int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, work, 0);
    int tried = sem_trywait(&s);
#ifdef BUG
    assert(tried == -1);
#else
    assert(tried == -1 || tried == 0);
#endif
    pthread_join(t, 0);
    return 0;
}

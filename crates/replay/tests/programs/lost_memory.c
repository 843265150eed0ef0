//~ LostMemory in main
// Two threads put an object into the same place: the first one is lost.
#include <pthread.h>
#include <stdlib.h>

int *shared;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *work(void *unused)
{
    int *mine = malloc(sizeof *mine);
    pthread_mutex_lock(&m);
    shared = mine;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

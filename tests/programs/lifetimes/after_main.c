// The thread-local variables of a thread end with it; those of the main thread, too, when it leaves others behind.
//~ NO-REPLAY: on Linux the memory stays there until the process ends
//~ SAFE
//~ SAFE -DJOINED
//~ UNSAFE -DLEFT: dead local object
//~ UNSAFE -DAWAITED: dead local object
//~ UNSAFE -DOF_A_WORKER: dead local object
#include <pthread.h>
#include <semaphore.h>

static _Thread_local int own = 1;
static pthread_t main_thread;
static sem_t ready;
static int *handed;

static void *use(void *pointer)
{
#ifdef AWAITED
    pthread_join(main_thread, 0);
#endif
#ifdef OF_A_WORKER
    handed = &own;
    sem_post(&ready);
#else
    *(int *)pointer = 2;
#endif
    return 0;
}

int main(void)
{
    static int shared;
    pthread_t thread;
    main_thread = pthread_self();
    sem_init(&ready, 0, 0);
#if defined LEFT || defined AWAITED || defined JOINED
    pthread_create(&thread, 0, use, &own);
#else
    pthread_create(&thread, 0, use, &shared);
#endif
#ifdef OF_A_WORKER
    sem_wait(&ready);
    *handed = 3;
#endif
#ifdef JOINED
    pthread_join(thread, 0);
#endif
    pthread_exit(0);
}

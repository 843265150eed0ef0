//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
static int x;
static void *work(void *arg) {
#ifdef BUG
    kill(getpid(), SIGUSR1);
    x = 1;
#else
    x = 1;
    kill(getpid(), SIGUSR1);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    sigset_t set;
    int got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&t, 0, work, 0);
    sigwait(&set, &got);
#ifdef BUG
    x = 2;
#else
    assert(x == 1);
#endif
    pthread_join(t, 0);
    return 0;
}

// What a handler does in another thread is not modelled: no verdict.
//~ UNKNOWN staged: __leno_unmodelled_signal
//~ UNKNOWN explore: a function of which nothing is known
#include <pthread.h>
#include <signal.h>

volatile sig_atomic_t caught;

void handler(int signal)
{
    caught = 1;
}

void *thread(void *unused)
{
    return 0;
}

int main(void)
{
    pthread_t other;
    signal(SIGUSR1, handler);
    pthread_create(&other, 0, thread, 0);
    pthread_kill(other, SIGUSR1);
    pthread_join(other, 0);
    return 0;
}

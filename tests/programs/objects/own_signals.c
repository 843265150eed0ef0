// Signals that a thread sends to itself: delivered at once, or when they are unblocked.
//~ SAFE
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t count, inside;

void handler(int signal)
{
    assert(!inside);
    inside = 1;
    count++;
    if (count == 4)
        raise(SIGUSR1); // blocked until the handler returns
    inside = 0;
}

int main(void)
{
    sigset_t set, pending;
    int taken = 0;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    assert(count == 1);
    kill(getpid(), SIGUSR1);
#ifdef BUG
    assert(count == 1);
#endif
    assert(count == 2);
    pthread_kill(pthread_self(), SIGUSR1);
    assert(count == 3);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    kill(getpid(), SIGUSR1);
    assert(count == 3);
    sigpending(&pending);
    assert(sigismember(&pending, SIGUSR1));
    sigwait(&set, &taken);
    assert(taken == SIGUSR1 && count == 3);
    raise(SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    assert(count == 5);
    signal(SIGUSR1, SIG_IGN);
    kill(getpid(), SIGUSR1);
    assert(count == 5);
    return 0;
}

// Signals: handlers are remembered, and run when the program raises a signal in its own thread. None comes from outside.

void abort(void);
void __leno_atomic_begin(void);
void __leno_atomic_end(void);
void __leno_exit_now(int status);
int *__errno_location(void);

typedef void handler(int signal);

static handler *handlers[65];

static handler *exchange(int signal, handler *new)
{
    __leno_atomic_begin();
    handler *old = handlers[signal];
    handlers[signal] = new;
    __leno_atomic_end();
    return old;
}

handler *signal(int signal, handler *new)
{
    if (signal < 1 || signal > 64) {
        *__errno_location() = 22;
        return (handler *)-1;
    }
    return exchange(signal, new);
}

handler *__sysv_signal(int number, handler *new)
{
    return signal(number, new);
}

handler *bsd_signal(int number, handler *new)
{
    return signal(number, new);
}

// The handler is the first member of struct sigaction.
int sigaction(int signal, handler *const *new, handler **old)
{
    if (signal < 1 || signal > 64) {
        *__errno_location() = 22;
        return -1;
    }
    handler *former = new ? exchange(signal, *new) : handlers[signal];
    if (old)
        *old = former;
    return 0;
}

int raise(int signal)
{
    if (signal < 1 || signal > 64) {
        *__errno_location() = 22;
        return -1;
    }
    __leno_atomic_begin();
    handler *current = handlers[signal];
    __leno_atomic_end();
    if (current == (handler *)1)
        return 0;
    if (current) {
        current(signal);
        return 0;
    }
    // By default SIGCHLD, SIGCONT, SIGURG and SIGWINCH are ignored.
    if (signal == 17 || signal == 18 || signal == 23 || signal == 28)
        return 0;
    if (signal == 6)
        abort();
    __leno_exit_now(128 + signal);
    return 0;
}

unsigned alarm(unsigned seconds)
{
    return 0;
}

int pthread_sigmask(int how, const unsigned long *set, unsigned long *old)
{
    if (old)
        *old = 0;
    return 0;
}

int sigprocmask(int how, const unsigned long *set, unsigned long *old)
{
    return pthread_sigmask(how, set, old);
}

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

int sigemptyset(unsigned long *set)
{
    for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
        set[i] = 0;
    return 0;
}

int sigfillset(unsigned long *set)
{
    for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
        set[i] = ~0UL;
    return 0;
}

static unsigned long bit_of(int signal)
{
    return 1UL << (signal - 1) % (8 * sizeof(unsigned long));
}

static unsigned long *word_of(const unsigned long *set, int signal)
{
    return (unsigned long *)set + (signal - 1) / (8 * sizeof(unsigned long));
}

static int is_valid(int signal)
{
    if (signal >= 1 && signal <= 64)
        return 1;
    *__errno_location() = 22;
    return 0;
}

int sigaddset(unsigned long *set, int signal)
{
    if (!is_valid(signal))
        return -1;
    *word_of(set, signal) |= bit_of(signal);
    return 0;
}

int sigdelset(unsigned long *set, int signal)
{
    if (!is_valid(signal))
        return -1;
    *word_of(set, signal) &= ~bit_of(signal);
    return 0;
}

int sigismember(const unsigned long *set, int signal)
{
    if (!is_valid(signal))
        return -1;
    return (*word_of(set, signal) & bit_of(signal)) != 0;
}

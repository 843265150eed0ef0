// The process as it is, for programs that are recorded: signals, the environment, sleep.
//
// What the system does is done by functions of the recorder, `__leno_outside_…`, which get values and give one value back. So
// whatever comes from outside is the result of a call: it is in the trace, and whoever follows the run later has it as an input. What a
// call gives beside its result is fetched word by word.
//
// A handler that the system runs while the program has just sent a signal, or sleeps until one comes, runs when the call is over: here,
// as a function like any other. (One that comes at another time runs then, and nobody can say what it did.)

void *malloc(unsigned long size);
int *__errno_location(void);
void __leno_if_loaded_cancellation_point(void);

// Of what the last such call of this thread has given: a word.
unsigned long __leno_outside_word(int number);
int __leno_outside_action(int signal, int is_set, void *handler, int flags, unsigned long mask, unsigned long more);
int __leno_outside_mask(int how, int is_set, unsigned long mask, unsigned long more);
int __leno_outside_wait(unsigned long mask, unsigned long more);
int __leno_outside_pending(void);
// The next handler that is to run, 0 if there is none; and its end.
int __leno_outside_signal(void);
void __leno_outside_handled(void);
// 1, or an error with a minus sign. 0 is what whoever knows no better believes: then the process is at its end.
int __leno_outside_raise(int signal);
int __leno_outside_kill(int process, int signal);
int __leno_outside_thread_kill(unsigned long thread, int signal);
void __leno_outside_suspend(int is_set, unsigned long mask, unsigned long more);
void __leno_exit_now(int status);
void __leno_outside_letter(int letter);
long __leno_outside_variable(int is_secure);
int __leno_outside_value(long number);
unsigned __leno_outside_sleep(unsigned seconds);
int __leno_outside_usleep(unsigned microseconds);
int __leno_outside_nanosleep(int clock, int flags, long seconds, long nanoseconds);
// Waits for a lock (0: a mutex, 1 and 2: for reading and for writing, 3: a semaphore) until a time. The try that follows
// gets what was got here. (Addresses are numbers here: nothing is written.)
void __leno_outside_await(int what, unsigned long object, int clock, unsigned long deadline);
// The process that ends next does not flush its streams, and runs no exit handlers.
void __leno_outside_at_once(void);
// The thread that is started next has so large a stack.
void __leno_outside_stack(unsigned long size);

typedef void handler(int signal);

struct action {
    handler *handler;
    unsigned long mask[128 / sizeof(unsigned long)];
    int flags;
    void *restorer;
};

// The program's own handlers: the system knows only the recorder's, which calls them.
static handler *handlers[65];

static int failed(int error)
{
    if (error == 0)
        return 0;
    *__errno_location() = error;
    return -1;
}

void __leno_await(int what, void *object, int clock, const long *deadline)
{
    __leno_outside_await(what, (unsigned long)object, clock, (unsigned long)deadline);
}

void __leno_await_semaphore(void *semaphore, int clock, const long *deadline)
{
    __leno_await(3, semaphore, clock, deadline);
}

void __leno_end_at_once(void)
{
    __leno_outside_at_once();
}

void __leno_set_stack(unsigned long size)
{
    __leno_outside_stack(size);
}

static void run_handlers(void)
{
    for (;;) {
        int signal = __leno_outside_signal();
        if (signal < 1 || signal > 64)
            return;
        handler *current = __atomic_load_n(&handlers[signal], 5);
        if (current)
            current(signal);
        __leno_outside_handled();
    }
}

// The error of a call that sends a signal.
static int sent(int result, int signal)
{
    if (result == 0)
        __leno_exit_now(128 + signal);
    run_handlers();
    return result > 0 ? 0 : -result;
}

int raise(int signal)
{
    return failed(sent(__leno_outside_raise(signal), signal));
}

int kill(int process, int signal)
{
    return failed(sent(__leno_outside_kill(process, signal), signal));
}

int pthread_kill(unsigned long thread, int signal)
{
    return sent(__leno_outside_thread_kill(thread, signal), signal);
}

int sigsuspend(const unsigned long *set)
{
    __leno_if_loaded_cancellation_point();
    __leno_outside_suspend(1, set[0], set[1]);
    run_handlers();
    return failed(4);
}

int pause(void)
{
    __leno_if_loaded_cancellation_point();
    __leno_outside_suspend(0, 0, 0);
    run_handlers();
    return failed(4);
}

static handler *former(int signal, handler *own)
{
    unsigned long word = __leno_outside_word(0);
    return word == 2 ? own : (handler *)word;
}

int sigaction(int signal, const struct action *new, struct action *old)
{
    if (signal < 1 || signal > 64)
        return failed(22);
    handler *own = __atomic_load_n(&handlers[signal], 5);
    int error;
    if (new) {
        int is_own = (unsigned long)new->handler > 1;
        if (is_own)
            own = __atomic_exchange_n(&handlers[signal], new->handler, 5);
        error = __leno_outside_action(signal, 1, (void *)new->handler, new->flags, new->mask[0], new->mask[1]);
    } else
        error = __leno_outside_action(signal, 0, 0, 0, 0, 0);
    if (error == 0 && old) {
        old->handler = former(signal, own);
        old->flags = (int)__leno_outside_word(1);
        for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
            old->mask[i] = i * sizeof(unsigned long) < 8 ? __leno_outside_word((int)i + 2) : 0;
        old->restorer = 0;
    }
    return failed(error);
}

static handler *exchange(int signal, handler *new, int flags)
{
    if (signal < 1 || signal > 64 || new == (handler *)-1) {
        failed(22);
        return (handler *)-1;
    }
    handler *own = __atomic_load_n(&handlers[signal], 5);
    if ((unsigned long)new > 1)
        own = __atomic_exchange_n(&handlers[signal], new, 5);
    unsigned long mask[2] = {0, 0};
    if ((flags & 0x40000000) == 0)
        mask[(signal - 1) / (8 * sizeof(unsigned long))] |= 1UL << (signal - 1) % (8 * sizeof(unsigned long));
    int error = __leno_outside_action(signal, 1, (void *)new, flags, mask[0], mask[1]);
    if (failed(error))
        return (handler *)-1;
    return former(signal, own);
}

// SA_RESTART
handler *signal(int signal, handler *new)
{
    return exchange(signal, new, 0x10000000);
}

handler *bsd_signal(int signal, handler *new)
{
    return exchange(signal, new, 0x10000000);
}

// SA_RESETHAND, SA_NODEFER, SA_INTERRUPT
handler *__sysv_signal(int signal, handler *new)
{
    return exchange(signal, new, (int)0xe0000000);
}

static void fetch_set(unsigned long *set)
{
    for (unsigned long i = 0; i * sizeof(unsigned long) < 8; i++)
        set[i] = __leno_outside_word((int)i);
}

int pthread_sigmask(int how, const unsigned long *set, unsigned long *old)
{
    int error = set ? __leno_outside_mask(how, 1, set[0], set[1]) : __leno_outside_mask(how, 0, 0, 0);
    if (error == 0 && old)
        fetch_set(old);
    return error;
}

int sigprocmask(int how, const unsigned long *set, unsigned long *old)
{
    return failed(pthread_sigmask(how, set, old));
}

int sigpending(unsigned long *set)
{
    int error = __leno_outside_pending();
    if (error == 0)
        fetch_set(set);
    return failed(error);
}

int sigwait(const unsigned long *set, int *signal)
{
    __leno_if_loaded_cancellation_point();
    int result = __leno_outside_wait(set[0], set[1]);
    if (result < 0)
        return -result;
    *signal = result;
    return 0;
}

static char *variable(const char *name, int is_secure)
{
    do
        __leno_outside_letter(*name);
    while (*name++);
    long length = __leno_outside_variable(is_secure);
    if (length < 0)
        return 0;
    char *value = malloc((unsigned long)length + 1);
    if (!value)
        return 0;
    for (long i = 0; i <= length; i++)
        value[i] = (char)__leno_outside_value(i);
    return value;
}

char *getenv(const char *name)
{
    return variable(name, 0);
}

char *secure_getenv(const char *name)
{
    return variable(name, 1);
}

char *setlocale(int category, const char *locale)
{
    static char name[2] = "C";
    if (!locale || locale[0] == 0 || (locale[0] == 'C' && locale[1] == 0))
        return name;
    return 0;
}

// Instructions elsewhere: sleep, usleep, nanosleep, clock_nanosleep, thrd_sleep.
unsigned __leno_sleep(unsigned seconds)
{
    __leno_if_loaded_cancellation_point();
    unsigned rest = __leno_outside_sleep(seconds);
    run_handlers();
    return rest;
}

int __leno_usleep(unsigned microseconds)
{
    __leno_if_loaded_cancellation_point();
    int error = __leno_outside_usleep(microseconds);
    run_handlers();
    return failed(error);
}

int __leno_clock_nanosleep(int clock, int flags, const long *time, long *rest)
{
    __leno_if_loaded_cancellation_point();
    int error = __leno_outside_nanosleep(clock, flags, time[0], time[1]);
    if (error == 4 && rest && flags == 0) {
        rest[0] = (long)__leno_outside_word(0);
        rest[1] = (long)__leno_outside_word(1);
    }
    run_handlers();
    return error;
}

int __leno_nanosleep(const long *time, long *rest)
{
    return failed(__leno_clock_nanosleep(0, 0, time, rest));
}

int __leno_thrd_sleep(const long *time, long *rest)
{
    int error = __leno_clock_nanosleep(0, 0, time, rest);
    return error == 0 ? 0 : error == 4 ? -1 : -2;
}

// Signals: actions, masks, and what a thread sends to itself. None comes from outside.
//
// A signal that is not blocked is delivered before the call that sends it returns: by raise, by pthread_kill to the thread itself, and by
// kill to the process from the thread that has set up handlers, if that is the main thread, which the kernel prefers. A blocked one
// stays pending until it is unblocked, or sigwait takes it. While a handler runs, its signal and those of its mask are blocked.
//
// What a handler does in another thread, at any instruction there, is not modelled: where a signal would have to be delivered so, a function
// is called of which nothing is known, so that no verdict is given.

void abort(void);
void __leno_atomic_begin(void);
void __leno_atomic_end(void);
void __leno_exit_now(int status);
int *__errno_location(void);
unsigned long __leno_self(void);
int __leno_unmodelled_signal(void);

typedef void handler(int signal);
typedef unsigned long long signals;

struct action {
    handler *handler;
    unsigned long mask[128 / sizeof(unsigned long)];
    int flags;
    void *restorer;
};

static const unsigned SIGINFO = 4, NODEFER = 0x40000000, RESETHAND = 0x80000000;

// As they were set; a handler of 0 is the default, 1 ignores the signal.
static struct state {
    handler *handler;
    signals mask;
    unsigned flags;
} states[65];

static signals pending_for_process;
// The first thread that has set a handler.
static unsigned long caretaker;
static _Thread_local signals blocked, pending;

static signals bit_of(int signal)
{
    return 1ULL << (signal - 1);
}

static signals set_of(const unsigned long *set)
{
    if (sizeof(unsigned long) == 8)
        return set[0];
    return set[0] | (signals)set[1] << 32;
}

static void store(unsigned long *set, signals all)
{
    for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
        set[i] = 0;
    set[0] = (unsigned long)all;
    if (sizeof(unsigned long) == 4)
        set[1] = (unsigned long)(all >> 32);
}

static int failed(int error)
{
    *__errno_location() = error;
    return -1;
}

static int is_valid(int signal)
{
    return signal >= 1 && signal <= 64;
}

static struct state exchange(int signal, const struct state *new)
{
    __leno_atomic_begin();
    struct state old = states[signal];
    if (new) {
        states[signal] = *new;
        if (!caretaker)
            caretaker = __leno_self();
    }
    __leno_atomic_end();
    return old;
}

static handler *set_handler(int signal, handler *new, unsigned flags)
{
    // (SIGKILL and SIGSTOP cannot be caught.)
    if (!is_valid(signal) || signal == 9 || signal == 19) {
        *__errno_location() = 22;
        return (handler *)-1;
    }
    struct state state = {new, 0, flags};
    return exchange(signal, &state).handler;
}

handler *signal(int signal, handler *new)
{
    return set_handler(signal, new, 0);
}

handler *__sysv_signal(int number, handler *new)
{
    return set_handler(number, new, RESETHAND | NODEFER);
}

handler *bsd_signal(int number, handler *new)
{
    return signal(number, new);
}

int sigaction(int signal, const struct action *new, struct action *old)
{
    if (!is_valid(signal) || (new && (signal == 9 || signal == 19)))
        return failed(22);
    struct state state;
    if (new) {
        state.handler = new->handler;
        state.mask = set_of(new->mask);
        state.flags = (unsigned)new->flags;
    }
    struct state former = exchange(signal, new ? &state : 0);
    if (old) {
        old->handler = former.handler;
        store(old->mask, former.mask);
        old->flags = (int)former.flags;
        old->restorer = 0;
    }
    return 0;
}

static void deliver_pending(void);

// In this thread, now.
static void deliver(int signal)
{
    static const struct state by_default;
    struct state state = exchange(signal, 0);
    if (state.handler == (handler *)1)
        return;
    if (!state.handler) {
        // By default SIGCHLD, SIGCONT, SIGURG and SIGWINCH are ignored.
        if (signal == 17 || signal == 18 || signal == 23 || signal == 28)
            return;
        if (signal == 6)
            abort();
        __leno_exit_now(128 + signal);
    }
    if (state.flags & RESETHAND)
        exchange(signal, &by_default);
    signals before = blocked;
    blocked |= state.mask;
    if (!(state.flags & NODEFER))
        blocked |= bit_of(signal);
    if (state.flags & SIGINFO) {
        int info[32] = {signal};
        ((void (*)(int, void *, void *))state.handler)(signal, info, 0);
    } else
        state.handler(signal);
    blocked = before;
    deliver_pending();
}

// One that is pending and in the set, and no longer; 0 if there is none.
static int take_pending(signals set)
{
    __leno_atomic_begin();
    signals here = (pending | pending_for_process) & set;
    int signal = 0;
    for (int i = 1; i <= 64 && here && !signal; i++)
        if (here & bit_of(i))
            signal = i;
    if (signal) {
        if (pending & bit_of(signal))
            pending &= ~bit_of(signal);
        else
            pending_for_process &= ~bit_of(signal);
    }
    __leno_atomic_end();
    return signal;
}

static void deliver_pending(void)
{
    for (;;) {
        int signal = take_pending(~blocked);
        if (!signal)
            return;
        deliver(signal);
    }
}

int raise(int signal)
{
    if (!is_valid(signal))
        return failed(22);
    if (blocked & bit_of(signal))
        pending |= bit_of(signal);
    else
        deliver(signal);
    return 0;
}

// A signal for another thread. Who ignores it, is not disturbed.
static int send_away(int signal)
{
    struct state state = exchange(signal, 0);
    int is_ignored = state.handler == (handler *)1;
    if (!state.handler)
        is_ignored = signal == 17 || signal == 18 || signal == 23 || signal == 28;
    return is_ignored ? 0 : __leno_unmodelled_signal();
}

int pthread_kill(unsigned long thread, int signal)
{
    if (signal == 0)
        return 0;
    if (!is_valid(signal))
        return 22;
    if (thread != __leno_self())
        return send_away(signal);
    raise(signal);
    return 0;
}

int kill(int process, int signal)
{
    if (signal < 0 || signal > 64)
        return failed(22);
    // Of other processes nothing is known.
    if (process != 1000 && process != 0)
        return __leno_unmodelled_signal();
    if (signal == 0)
        return 0;
    __leno_atomic_begin();
    int is_mine = !caretaker || caretaker == __leno_self();
    int waits = is_mine && (blocked & bit_of(signal)) != 0;
    if (waits)
        pending_for_process |= bit_of(signal);
    __leno_atomic_end();
    if (!is_mine)
        return send_away(signal);
    if (!waits)
        deliver(signal);
    return 0;
}

// A signal that comes when the time is over, at any instruction. By default it ends the process, which hides nothing.
unsigned alarm(unsigned seconds)
{
    if (seconds && (unsigned long)exchange(14, 0).handler > 1)
        return (unsigned)__leno_unmodelled_signal();
    return 0;
}

int pthread_sigmask(int how, const unsigned long *set, unsigned long *old)
{
    signals before = blocked;
    if (set) {
        // (SIGKILL and SIGSTOP cannot be blocked.)
        signals given = set_of(set) & ~(bit_of(9) | bit_of(19));
        if (how == 0)
            blocked |= given;
        else if (how == 1)
            blocked &= ~given;
        else if (how == 2)
            blocked = given;
        else
            return 22;
    }
    if (old)
        store(old, before);
    deliver_pending();
    return 0;
}

int sigprocmask(int how, const unsigned long *set, unsigned long *old)
{
    int error = pthread_sigmask(how, set, old);
    return error ? failed(error) : 0;
}

int sigpending(unsigned long *set)
{
    __leno_atomic_begin();
    signals now = (pending | pending_for_process) & blocked;
    __leno_atomic_end();
    store(set, now);
    return 0;
}

int sigwait(const unsigned long *set, int *signal)
{
    int taken = take_pending(set_of(set));
    if (!taken)
        return __leno_unmodelled_signal();
    *signal = taken;
    return 0;
}

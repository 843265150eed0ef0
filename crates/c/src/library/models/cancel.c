// Cancellation: pthread_cancel, pthread_testcancel, pthread_setcancelstate, pthread_setcanceltype.
//
// Each thread has a record from its creation to its end, in one list. Cancelling marks the record; the thread acts on it
// at its next cancellation point: pthread_testcancel, sleeping, and while it waits for a condition variable, a
// semaphore or another thread. One that sleeps on a condition variable is woken (with its companions: for
// them the wake-up is spurious). Those who wait for a semaphore or for the end of a thread sleep until something happens that
// they may wait for, and then look. Asynchronous cancellation is treated as deferred.

void *malloc(unsigned long size);
void free(void *object);
void *__leno_thread_start(void *(*function)(void *), void *argument);
void __leno_thread_leave(void *result);
void __leno_atomic_begin(void);
void __leno_atomic_end(void);
unsigned long __leno_self(void);
void __leno_spawn(unsigned long *handle, void *(*function)(void *, void *, void *), void *record, void *start, void *argument);
int __leno_cond_sleep(void *condition, void *mutex);
int __leno_cond_wake(void *condition, void *mutex);
int __leno_cond_wake_timed(void *condition, void *mutex, const void *deadline);
int __leno_cond_relock(void *mutex);
int __leno_cond_broadcast(void *condition);
int __leno_sem_trywait(void *semaphore);
int __leno_sem_post(void *semaphore);
int __leno_sem_wait(void *semaphore);
int __leno_unmodelled_cancel(void);
int pthread_mutex_lock(void *mutex);

typedef struct record {
    unsigned long thread;
    int cancelled;
    // The condition variable it sleeps on.
    void *condition;
    struct record *next;
} record;

static record *records;
// The first thread has no creator to make its record.
static record of_main;
static _Thread_local record *mine;
static _Thread_local int disabled, asynchronous;

// A mutex and a condition variable, for those who wait until a semaphore was posted, a thread has ended, or one was cancelled;
// and whether a thread has ever done so. (The main thread waits as usual: it cannot be cancelled.)
static long monitor[8], changes[8];
static int is_waited;

static void tell_changes(void)
{
    __leno_atomic_begin();
    if (is_waited)
        __leno_cond_broadcast(changes);
    __leno_atomic_end();
}

static record *find(unsigned long thread)
{
    for (record *r = records; r; r = r->next)
        if (r->thread == thread)
            return r;
    return 0;
}

// To be called in an atomic section.
static record *my_record(void)
{
    if (!mine) {
        of_main.thread = __leno_self();
        of_main.next = records;
        records = &of_main;
        mine = &of_main;
    }
    return mine;
}

static void *start(void *own, void *function, void *argument)
{
    mine = own;
    return __leno_thread_start((void *(*)(void *))function, argument);
}

int __leno_create_thread(unsigned long *handle, void *(*function)(void *), void *argument)
{
    record *new = malloc(sizeof(record));
    if (!new)
        return 11;
    __leno_atomic_begin();
    my_record();
    new->cancelled = 0;
    new->condition = 0;
    new->next = records;
    records = new;
    __leno_spawn(handle, start, new, (void *)function, argument);
    new->thread = *handle;
    __leno_atomic_end();
    return 0;
}

void __leno_forget_thread(void)
{
    __leno_atomic_begin();
    for (record **link = &records; *link; link = &(*link)->next)
        if (*link == mine) {
            *link = mine->next;
            break;
        }
    __leno_atomic_end();
    if (mine && mine != &of_main)
        free(mine);
    mine = 0;
    tell_changes();
}

int pthread_cancel(unsigned long thread)
{
    __leno_atomic_begin();
    my_record();
    record *other = find(thread);
    int is_first = other == &of_main;
    if (other) {
        other->cancelled = 1;
        if (other->condition)
            __leno_cond_broadcast(other->condition);
    }
    __leno_atomic_end();
    tell_changes();
    // (Of which nothing is known: there is no verdict then.)
    if (is_first)
        return __leno_unmodelled_cancel();
    return other ? 0 : 3;
}

static int is_cancelled(void)
{
    __leno_atomic_begin();
    int cancelled = my_record()->cancelled && !disabled;
    __leno_atomic_end();
    return cancelled;
}

// A cancellation point.
void __leno_cancellation_point(void)
{
    if (is_cancelled()) {
        disabled = 1;
        __leno_thread_leave((void *)-1);
    }
}

void pthread_testcancel(void)
{
    __leno_cancellation_point();
}

// pthread_cond_wait and pthread_cond_timedwait (with a deadline). Whether it has been cancelled is asked, and the sleep
// begun, in one step: no cancellation can be missed in between.
int __leno_cancellable_wait(void *condition, void *mutex, const void *deadline)
{
    int result = 0;
    __leno_atomic_begin();
    record *own = my_record();
    int sleeps = !own->cancelled || disabled;
    if (sleeps) {
        own->condition = condition;
        result = __leno_cond_sleep(condition, mutex);
        // A mutex that checks may refuse to be given up.
        if (result) {
            own->condition = 0;
            sleeps = 0;
        }
    }
    __leno_atomic_end();
    if (sleeps) {
        result = deadline ? __leno_cond_wake_timed(condition, mutex, deadline) : __leno_cond_wake(condition, mutex);
        __leno_atomic_begin();
        own->condition = 0;
        __leno_atomic_end();
        __leno_cond_relock(mutex);
    }
    __leno_cancellation_point();
    return result;
}

// All other threads have got their records from their creators.
static int is_main(void)
{
    return !mine || mine == &of_main;
}

// In an atomic section: falls asleep until something has changed, unless the thread was cancelled.
static int fall_asleep(void)
{
    if (my_record()->cancelled && !disabled)
        return 0;
    is_waited = 1;
    pthread_mutex_lock(monitor);
    __leno_cond_sleep(changes, monitor);
    return 1;
}

static void wake_up(int was_asleep)
{
    if (was_asleep)
        __leno_cond_wake(changes, monitor);
    __leno_cancellation_point();
}

int __leno_cancellable_sem_wait(void *semaphore)
{
    if (is_main())
        return __leno_sem_wait(semaphore);
    __leno_cancellation_point();
    for (;;) {
        __leno_atomic_begin();
        int has_got_it = __leno_sem_trywait(semaphore) == 0;
        int sleeps = !has_got_it && fall_asleep();
        __leno_atomic_end();
        if (has_got_it)
            return 0;
        wake_up(sleeps);
    }
}

int __leno_waking_sem_post(void *semaphore)
{
    __leno_atomic_begin();
    int result = __leno_sem_post(semaphore);
    if (is_waited)
        __leno_cond_broadcast(changes);
    __leno_atomic_end();
    return result;
}

// Waits until a thread has ended, before it is joined.
void __leno_await_end(unsigned long thread)
{
    if (is_main())
        return;
    __leno_cancellation_point();
    for (;;) {
        __leno_atomic_begin();
        int has_ended = !find(thread);
        int sleeps = !has_ended && fall_asleep();
        __leno_atomic_end();
        if (has_ended)
            return;
        wake_up(sleeps);
    }
}

int pthread_setcancelstate(int state, int *old)
{
    if (state != 0 && state != 1)
        return 22;
    if (old)
        *old = disabled;
    disabled = state;
    return 0;
}

int pthread_setcanceltype(int type, int *old)
{
    if (type != 0 && type != 1)
        return 22;
    if (old)
        *old = asynchronous;
    asynchronous = type;
    return 0;
}

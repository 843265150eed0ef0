// POSIX semaphores where they set errno: sem_trywait, sem_timedwait, sem_clockwait.

int *__errno_location(void);
int __leno_sem_trywait(void *semaphore);
int __leno_is_time(const long *time);
void __leno_if_loaded_cancellation_point(void);
void __leno_if_loaded_await_semaphore(void *semaphore, int clock, const long *deadline);

static int fail(int error)
{
    *__errno_location() = error;
    return -1;
}

int sem_trywait(void *semaphore)
{
    return __leno_sem_trywait(semaphore) == 0 ? 0 : fail(11);
}

// Time is arbitrary: a wait that ends, ends at some moment, and then the value is positive or the time is over. (glibc looks
// at the deadline first, even if the value is positive.)
static int wait_until(void *semaphore, int clock, const long *deadline)
{
    if (!__leno_is_time(deadline))
        return fail(22);
    __leno_if_loaded_cancellation_point();
    __leno_if_loaded_await_semaphore(semaphore, clock, deadline);
    return __leno_sem_trywait(semaphore) == 0 ? 0 : fail(110);
}

int sem_timedwait(void *semaphore, const long *deadline)
{
    return wait_until(semaphore, 0, deadline);
}

int sem_clockwait(void *semaphore, int clock, const long *deadline)
{
    if (clock != 0 && clock != 1)
        return fail(22);
    return wait_until(semaphore, clock, deadline);
}

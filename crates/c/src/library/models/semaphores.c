// POSIX semaphores where they set errno: sem_trywait, sem_timedwait, sem_clockwait.

int *__errno_location(void);
int __leno_sem_trywait(void *semaphore);
void __leno_if_loaded_cancellation_point(void);

int sem_trywait(void *semaphore)
{
    int result = __leno_sem_trywait(semaphore);
    if (result != 0)
        *__errno_location() = 11;
    return result;
}

// Time is arbitrary: a wait that ends, ends at some moment, and then the value is positive or the time is over.
int sem_timedwait(void *semaphore, const void *deadline)
{
    __leno_if_loaded_cancellation_point();
    int result = __leno_sem_trywait(semaphore);
    if (result != 0)
        *__errno_location() = 110;
    return result;
}

int sem_clockwait(void *semaphore, int clock, const void *deadline)
{
    return sem_timedwait(semaphore, deadline);
}

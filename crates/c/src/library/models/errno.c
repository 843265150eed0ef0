// errno: one for each thread.

_Thread_local int __leno_errno;

int *__errno_location(void)
{
    return &__leno_errno;
}

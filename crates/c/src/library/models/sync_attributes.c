// Attribute objects of mutexes, condition variables, read-write locks and barriers: see attributes.c.

int pthread_mutexattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_mutexattr_destroy(int *attr)
{
    return 0;
}

int pthread_mutexattr_settype(int *attr, int kind)
{
    if (kind < 0 || kind > 3)
        return 22;
    *attr = kind;
    return 0;
}

int pthread_mutexattr_gettype(const int *attr, int *kind)
{
    *kind = *attr;
    return 0;
}

int pthread_mutexattr_setpshared(int *attr, int shared)
{
    return shared == 0 || shared == 1 ? 0 : 22;
}

int pthread_mutexattr_getpshared(const int *attr, int *shared)
{
    *shared = 0;
    return 0;
}

int pthread_mutexattr_setprotocol(int *attr, int protocol)
{
    return protocol >= 0 && protocol <= 2 ? 0 : 22;
}

int pthread_mutexattr_getprotocol(const int *attr, int *protocol)
{
    *protocol = 0;
    return 0;
}

int pthread_mutexattr_setprioceiling(int *attr, int ceiling)
{
    return 0;
}

int pthread_mutexattr_getprioceiling(const int *attr, int *ceiling)
{
    *ceiling = 0;
    return 0;
}

int pthread_condattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_condattr_destroy(int *attr)
{
    return 0;
}

int pthread_condattr_setclock(int *attr, int clock)
{
    if (clock != 0 && clock != 1)
        return 22;
    *attr = clock;
    return 0;
}

int pthread_condattr_getclock(const int *attr, int *clock)
{
    *clock = *attr;
    return 0;
}

int pthread_condattr_setpshared(int *attr, int shared)
{
    return shared == 0 || shared == 1 ? 0 : 22;
}

int pthread_condattr_getpshared(const int *attr, int *shared)
{
    *shared = 0;
    return 0;
}

int pthread_rwlockattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_rwlockattr_destroy(int *attr)
{
    return 0;
}

int pthread_rwlockattr_setpshared(int *attr, int shared)
{
    return shared == 0 || shared == 1 ? 0 : 22;
}

int pthread_rwlockattr_getpshared(const int *attr, int *shared)
{
    *shared = 0;
    return 0;
}

int pthread_rwlockattr_setkind_np(int *attr, int kind)
{
    if (kind < 0 || kind > 2)
        return 22;
    *attr = kind;
    return 0;
}

int pthread_rwlockattr_getkind_np(const int *attr, int *kind)
{
    *kind = *attr;
    return 0;
}

int pthread_barrierattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_barrierattr_destroy(int *attr)
{
    return 0;
}

int pthread_barrierattr_setpshared(int *attr, int shared)
{
    return shared == 0 || shared == 1 ? 0 : 22;
}

int pthread_barrierattr_getpshared(const int *attr, int *shared)
{
    *shared = 0;
    return 0;
}

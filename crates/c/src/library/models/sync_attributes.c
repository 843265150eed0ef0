// Attribute objects of mutexes, condition variables, read-write locks and barriers: a few bits of one int, in a layout of our
// own. Only the kind of a mutex makes a difference. The object must have been initialised: every function looks at it.

void __leno_use(int value);

static int initialise(int *attr)
{
    *attr = 0;
    return 0;
}

static int look(const int *attr)
{
    __leno_use(*attr);
    return 0;
}

// Puts a value of so many bits into an attribute object; there is no value above `most`.
static int set(int *attr, int shift, int bits, int value, int most)
{
    int old = *attr;
    __leno_use(old);
    if (value < 0 || value > most)
        return 22;
    *attr = (old & ~(((1 << bits) - 1) << shift)) | (value << shift);
    return 0;
}

static int get(const int *attr, int shift, int bits, int *value)
{
    *value = (*attr >> shift) & ((1 << bits) - 1);
    return 0;
}

int pthread_mutexattr_init(int *attr)
{
    return initialise(attr);
}

int pthread_mutexattr_destroy(int *attr)
{
    return look(attr);
}

int pthread_mutexattr_settype(int *attr, int kind)
{
    return set(attr, 0, 2, kind, 3);
}

int pthread_mutexattr_gettype(const int *attr, int *kind)
{
    return get(attr, 0, 2, kind);
}

int pthread_mutexattr_setpshared(int *attr, int shared)
{
    return set(attr, 2, 1, shared, 1);
}

int pthread_mutexattr_getpshared(const int *attr, int *shared)
{
    return get(attr, 2, 1, shared);
}

int pthread_mutexattr_setprotocol(int *attr, int protocol)
{
    return set(attr, 3, 2, protocol, 2);
}

int pthread_mutexattr_getprotocol(const int *attr, int *protocol)
{
    return get(attr, 3, 2, protocol);
}

int pthread_mutexattr_setprioceiling(int *attr, int ceiling)
{
    return set(attr, 8, 8, ceiling, 99);
}

int pthread_mutexattr_getprioceiling(const int *attr, int *ceiling)
{
    return get(attr, 8, 8, ceiling);
}

int pthread_condattr_init(int *attr)
{
    return initialise(attr);
}

int pthread_condattr_destroy(int *attr)
{
    return look(attr);
}

int pthread_condattr_setclock(int *attr, int clock)
{
    return set(attr, 0, 1, clock, 1);
}

int pthread_condattr_getclock(const int *attr, int *clock)
{
    return get(attr, 0, 1, clock);
}

int pthread_condattr_setpshared(int *attr, int shared)
{
    return set(attr, 1, 1, shared, 1);
}

int pthread_condattr_getpshared(const int *attr, int *shared)
{
    return get(attr, 1, 1, shared);
}

// (Two ints, the only attribute object with more than one.)
int pthread_rwlockattr_init(int *attr)
{
    attr[1] = 0;
    return initialise(attr);
}

int pthread_rwlockattr_destroy(int *attr)
{
    return look(attr);
}

int pthread_rwlockattr_setkind_np(int *attr, int kind)
{
    return set(attr, 0, 2, kind, 2);
}

int pthread_rwlockattr_getkind_np(const int *attr, int *kind)
{
    return get(attr, 0, 2, kind);
}

int pthread_rwlockattr_setpshared(int *attr, int shared)
{
    return set(attr, 2, 1, shared, 1);
}

int pthread_rwlockattr_getpshared(const int *attr, int *shared)
{
    return get(attr, 2, 1, shared);
}

int pthread_barrierattr_init(int *attr)
{
    return initialise(attr);
}

int pthread_barrierattr_destroy(int *attr)
{
    return look(attr);
}

int pthread_barrierattr_setpshared(int *attr, int shared)
{
    return set(attr, 0, 1, shared, 1);
}

int pthread_barrierattr_getpshared(const int *attr, int *shared)
{
    return get(attr, 0, 1, shared);
}

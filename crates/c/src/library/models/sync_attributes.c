// Attribute objects of mutexes, condition variables, read-write locks and barriers: an int, in a layout of our own. Only the kind of
// a mutex, its lowest bits, makes a difference. The object must have been initialised, and not been destroyed: every function looks
// at it. (What else a mutex can be given is in mutex_attributes.c.)

// The value of an attribute object; a violation if it is none that these functions leave there.
int __leno_attribute(const int *attr);

int pthread_mutexattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_mutexattr_destroy(int *attr)
{
    __leno_attribute(attr);
    *attr = 0x10000;
    return 0;
}

// A value of its own, not a few bits: so the kinds that a mutex can have are known without running the program.
int pthread_mutexattr_settype(int *attr, int kind)
{
    __leno_attribute(attr);
    if (kind < 0 || kind > 3)
        return 22;
    *attr = kind;
    return 0;
}

int pthread_mutexattr_gettype(const int *attr, int *kind)
{
    *kind = __leno_attribute(attr) & 3;
    return 0;
}

// Puts a value of so many bits into an attribute object; there is no value above `most`.
static int set(int *attr, int shift, int bits, int value, int most)
{
    int old = __leno_attribute(attr);
    if (value < 0 || value > most)
        return 22;
    *attr = (old & ~(((1 << bits) - 1) << shift)) | (value << shift);
    return 0;
}

static int get(const int *attr, int shift, int bits, int *value)
{
    *value = (__leno_attribute(attr) >> shift) & ((1 << bits) - 1);
    return 0;
}

int pthread_condattr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_condattr_destroy(int *attr)
{
    __leno_attribute(attr);
    *attr = 0x10000;
    return 0;
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
    attr[0] = 0;
    attr[1] = 0;
    return 0;
}

int pthread_rwlockattr_destroy(int *attr)
{
    __leno_attribute(attr);
    *attr = 0x10000;
    return 0;
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
    *attr = 0;
    return 0;
}

int pthread_barrierattr_destroy(int *attr)
{
    __leno_attribute(attr);
    *attr = 0x10000;
    return 0;
}

int pthread_barrierattr_setpshared(int *attr, int shared)
{
    return set(attr, 0, 1, shared, 1);
}

int pthread_barrierattr_getpshared(const int *attr, int *shared)
{
    return get(attr, 0, 1, shared);
}

// Settings of mutexes that make no difference, beside the kind in their attribute object. (Setting the kind later forgets them.)

int __leno_attribute(const int *attr);

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

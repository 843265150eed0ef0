// Attribute objects of pthreads. Each begins with what Leno heeds, as an int: whether a thread is detached, the kind of a
// mutex. The rest of what can be set is accepted, and reads as its default.

int pthread_attr_init(int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_attr_destroy(int *attr)
{
    return 0;
}

int pthread_attr_setdetachstate(int *attr, int state)
{
    if (state != 0 && state != 1)
        return 22;
    *attr = state;
    return 0;
}

int pthread_attr_getdetachstate(const int *attr, int *state)
{
    *state = *attr;
    return 0;
}

int pthread_attr_setstacksize(int *attr, unsigned long size)
{
    return size < 16384 ? 22 : 0;
}

int pthread_attr_getstacksize(const int *attr, unsigned long *size)
{
    *size = 8388608;
    return 0;
}

int pthread_attr_setstack(int *attr, void *address, unsigned long size)
{
    return size < 16384 ? 22 : 0;
}

int pthread_attr_getstack(const int *attr, void **address, unsigned long *size)
{
    *address = 0;
    *size = 8388608;
    return 0;
}

int pthread_attr_setstackaddr(int *attr, void *address)
{
    return 0;
}

int pthread_attr_setguardsize(int *attr, unsigned long size)
{
    return 0;
}

int pthread_attr_getguardsize(const int *attr, unsigned long *size)
{
    *size = 4096;
    return 0;
}

int pthread_attr_setscope(int *attr, int scope)
{
    return scope == 0 ? 0 : scope == 1 ? 95 : 22;
}

int pthread_attr_getscope(const int *attr, int *scope)
{
    *scope = 0;
    return 0;
}

int pthread_attr_setschedpolicy(int *attr, int policy)
{
    return 0;
}

int pthread_attr_getschedpolicy(const int *attr, int *policy)
{
    *policy = 0;
    return 0;
}

int pthread_attr_setschedparam(int *attr, const int *priority)
{
    return 0;
}

int pthread_attr_getschedparam(const int *attr, int *priority)
{
    *priority = 0;
    return 0;
}

int pthread_attr_setinheritsched(int *attr, int inherit)
{
    return 0;
}

int pthread_attr_getinheritsched(const int *attr, int *inherit)
{
    *inherit = 0;
    return 0;
}

int pthread_attr_setaffinity_np(int *attr, unsigned long size, const void *set)
{
    return 0;
}

int pthread_getattr_np(unsigned long thread, int *attr)
{
    *attr = 0;
    return 0;
}

int pthread_getattr_default_np(int *attr)
{
    *attr = 0;
    return 0;
}

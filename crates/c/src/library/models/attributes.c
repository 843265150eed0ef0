// Attributes of threads. What is set is kept in the attribute object, in a layout of our own that fits into pthread_attr_t;
// only the detach state makes a difference, and the size of the stack in a program that runs for real. The object must have been
// initialised, and not been destroyed: every function looks at it.

void __leno_use(int value);
void __leno_if_loaded_set_stack(unsigned long size);
// The value of an attribute object; a violation if it is none that these functions leave there.
int __leno_attribute(const int *attr);

typedef struct attributes {
    // (pthread_create reads this.)
    int detached;
    int scope, inherits, policy, priority;
    unsigned long guard, stack_size;
    char *stack;
    // The end of a pthread_attr_t, all of which must be there.
    unsigned long last;
} attributes;

static int set_defaults(attributes *attr)
{
    attr->detached = 0;
    attr->scope = 0;
    attr->inherits = 0;
    attr->policy = 0;
    attr->priority = 0;
    attr->guard = 4096;
    attr->stack_size = 8388608;
    attr->stack = 0;
    attr->last = 0;
    return 0;
}

int pthread_attr_init(attributes *attr)
{
    return set_defaults(attr);
}

// A thread is about to be started with these.
void __leno_prepare_thread(const attributes *attr)
{
    if (attr)
        __leno_if_loaded_set_stack(attr->stack_size);
}

int pthread_attr_destroy(attributes *attr)
{
    __leno_attribute(&attr->detached);
    attr->detached = 0x10000;
    return 0;
}

int pthread_attr_setdetachstate(attributes *attr, int state)
{
    __leno_attribute(&attr->detached);
    if (state != 0 && state != 1)
        return 22;
    attr->detached = state;
    return 0;
}

int pthread_attr_getdetachstate(const attributes *attr, int *state)
{
    *state = __leno_attribute(&attr->detached);
    return 0;
}

int pthread_attr_setstacksize(attributes *attr, unsigned long size)
{
    __leno_attribute(&attr->detached);
    if (size < 16384)
        return 22;
    attr->stack_size = size;
    return 0;
}

int pthread_attr_getstacksize(const attributes *attr, unsigned long *size)
{
    __leno_attribute(&attr->detached);
    *size = attr->stack_size;
    return 0;
}

int pthread_attr_setstack(attributes *attr, char *address, unsigned long size)
{
    __leno_attribute(&attr->detached);
    if (size < 16384)
        return 22;
    attr->stack = address;
    attr->stack_size = size;
    return 0;
}

int pthread_attr_getstack(const attributes *attr, char **address, unsigned long *size)
{
    __leno_attribute(&attr->detached);
    *address = attr->stack;
    *size = attr->stack_size;
    return 0;
}

int pthread_attr_setstackaddr(attributes *attr, char *address)
{
    __leno_attribute(&attr->detached);
    attr->stack = address;
    return 0;
}

int pthread_attr_setguardsize(attributes *attr, unsigned long size)
{
    __leno_attribute(&attr->detached);
    attr->guard = size;
    return 0;
}

int pthread_attr_getguardsize(const attributes *attr, unsigned long *size)
{
    __leno_attribute(&attr->detached);
    *size = attr->guard;
    return 0;
}

int pthread_attr_setscope(attributes *attr, int scope)
{
    __leno_attribute(&attr->detached);
    if (scope == 1)
        return 95;
    if (scope != 0)
        return 22;
    attr->scope = scope;
    return 0;
}

int pthread_attr_getscope(const attributes *attr, int *scope)
{
    __leno_attribute(&attr->detached);
    *scope = attr->scope;
    return 0;
}

int pthread_attr_setschedpolicy(attributes *attr, int policy)
{
    __leno_attribute(&attr->detached);
    if (policy < 0 || policy > 2)
        return 22;
    attr->policy = policy;
    return 0;
}

int pthread_attr_getschedpolicy(const attributes *attr, int *policy)
{
    __leno_attribute(&attr->detached);
    *policy = attr->policy;
    return 0;
}

int pthread_attr_setschedparam(attributes *attr, const int *priority)
{
    __leno_attribute(&attr->detached);
    int most = attr->policy == 0 ? 0 : 99, least = attr->policy == 0 ? 0 : 1;
    if (*priority < least || *priority > most)
        return 22;
    attr->priority = *priority;
    return 0;
}

int pthread_attr_getschedparam(const attributes *attr, int *priority)
{
    __leno_attribute(&attr->detached);
    *priority = attr->priority;
    return 0;
}

int pthread_attr_setinheritsched(attributes *attr, int inherit)
{
    __leno_attribute(&attr->detached);
    if (inherit != 0 && inherit != 1)
        return 22;
    attr->inherits = inherit;
    return 0;
}

int pthread_attr_getinheritsched(const attributes *attr, int *inherit)
{
    __leno_attribute(&attr->detached);
    *inherit = attr->inherits;
    return 0;
}

int pthread_attr_setaffinity_np(attributes *attr, unsigned long size, const unsigned long *set)
{
    __leno_attribute(&attr->detached);
    for (unsigned long i = 0; i < size / sizeof(unsigned long); i++)
        __leno_use((int)set[i]);
    return 0;
}

int pthread_getattr_np(unsigned long thread, attributes *attr)
{
    return set_defaults(attr);
}

int pthread_getattr_default_np(attributes *attr)
{
    return set_defaults(attr);
}

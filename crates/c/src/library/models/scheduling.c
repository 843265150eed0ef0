// Scheduling parameters, names and affinities of threads: read, and without effect (every schedule is considered anyway).

void __leno_use(int value);
unsigned long __leno_self(void);

static void read_set(const unsigned long *words, unsigned long size)
{
    for (unsigned long i = 0; i < size / sizeof(unsigned long); i++)
        __leno_use((int)words[i]);
}

int pthread_setschedparam(unsigned long thread, int policy, const int *priority)
{
    __leno_use(*priority);
    return 0;
}

int pthread_getschedparam(unsigned long thread, int *policy, int *priority)
{
    *policy = 0;
    *priority = 0;
    return 0;
}

int pthread_setschedprio(unsigned long thread, int priority)
{
    return 0;
}

int pthread_setconcurrency(int level)
{
    return 0;
}

int pthread_getconcurrency(void)
{
    return 0;
}

// What a thread has called itself. (What others call it is not kept.)
static _Thread_local char own_name[16];

int pthread_setname_np(unsigned long thread, const char *name)
{
    int is_own = thread == __leno_self();
    unsigned long length = 0;
    while (name[length] != 0)
        if (++length > 15)
            return 34;
    for (unsigned long i = 0; is_own && i <= length; i++)
        own_name[i] = name[i];
    return 0;
}

int pthread_getname_np(unsigned long thread, char *name, unsigned long size)
{
    if (size < 16)
        return 34;
    int is_own = thread == __leno_self();
    unsigned long i = 0;
    for (; is_own && own_name[i] != 0; i++)
        name[i] = own_name[i];
    name[i] = 0;
    return 0;
}

int pthread_setaffinity_np(unsigned long thread, unsigned long size, const unsigned long *set)
{
    read_set(set, size);
    return 0;
}

int pthread_getaffinity_np(unsigned long thread, unsigned long size, unsigned char *set)
{
    for (unsigned long i = 0; i < size; i++)
        set[i] = i == 0 ? 3 : 0;
    return 0;
}

int pthread_getcpuclockid(unsigned long thread, int *clock)
{
    *clock = 3;
    return 0;
}

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return 0;
}

int sched_setaffinity(int process, unsigned long size, const unsigned long *set)
{
    read_set(set, size);
    return 0;
}

int sched_getaffinity(int process, unsigned long size, unsigned char *set)
{
    return pthread_getaffinity_np(0, size, set);
}

int sched_setscheduler(int process, int policy, const int *priority)
{
    __leno_use(*priority);
    return 0;
}

int sched_getscheduler(int process)
{
    return 0;
}

int sched_setparam(int process, const int *priority)
{
    __leno_use(*priority);
    return 0;
}

int sched_get_priority_max(int policy)
{
    return policy == 1 || policy == 2 ? 99 : 0;
}

int sched_get_priority_min(int policy)
{
    return policy == 1 || policy == 2 ? 1 : 0;
}

int sched_getcpu(void)
{
    return 0;
}

int nice(int increment)
{
    return 0;
}

int __sched_cpucount(unsigned long size, const unsigned char *set)
{
    int count = 0;
    for (unsigned long i = 0; i < size; i++)
        for (unsigned bits = set[i]; bits != 0; bits &= bits - 1)
            count++;
    return count;
}

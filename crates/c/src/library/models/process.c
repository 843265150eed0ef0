// The process and its surroundings: two processors, pages of 4096 bytes, the "C" locale.

int *__errno_location(void);
unsigned long __leno_self(void);

int getpid(void)
{
    return 1000;
}

int getppid(void)
{
    return 1;
}

int gettid(void)
{
    return (int)__leno_self();
}

unsigned getuid(void)
{
    return 1000;
}

unsigned geteuid(void)
{
    return 1000;
}

unsigned getgid(void)
{
    return 1000;
}

unsigned getegid(void)
{
    return 1000;
}

long sysconf(int name)
{
    switch (name) {
    case 2: // _SC_CLK_TCK
        return 100;
    case 4: // _SC_OPEN_MAX
        return 1024;
    case 30: // _SC_PAGESIZE
        return 4096;
    case 83: // _SC_NPROCESSORS_CONF
    case 84: // _SC_NPROCESSORS_ONLN
        return 2;
    case 85: // _SC_PHYS_PAGES
        return 1048576;
    default:
        *__errno_location() = 22;
        return -1;
    }
}

int getpagesize(void)
{
    return 4096;
}

int get_nprocs(void)
{
    return 2;
}

int get_nprocs_conf(void)
{
    return 2;
}

char *setlocale(int category, const char *locale)
{
    static char name[2] = "C";
    if (!locale || locale[0] == 0 || (locale[0] == 'C' && locale[1] == 0))
        return name;
    return 0;
}

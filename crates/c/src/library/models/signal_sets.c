// Sets of signals: sigemptyset, sigfillset, sigaddset, sigdelset, sigismember.

int *__errno_location(void);

int sigemptyset(unsigned long *set)
{
    for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
        set[i] = 0;
    return 0;
}

// All of them but the two that the C library keeps for itself.
int sigfillset(unsigned long *set)
{
    for (unsigned long i = 0; i < 128 / sizeof(unsigned long); i++)
        set[i] = ~0UL;
    if (sizeof(unsigned long) == 8)
        set[0] = ~0x180000000UL;
    else {
        set[0] = 0x7fffffffUL;
        set[1] = ~1UL;
    }
    return 0;
}

static unsigned long bit_of(int number)
{
    return 1UL << (number - 1) % (8 * sizeof(unsigned long));
}

static unsigned long *word_of(const unsigned long *set, int number)
{
    return (unsigned long *)set + (number - 1) / (8 * sizeof(unsigned long));
}

static int is_valid(int number)
{
    if (number >= 1 && number <= 64)
        return 1;
    *__errno_location() = 22;
    return 0;
}

int sigaddset(unsigned long *set, int number)
{
    if (!is_valid(number))
        return -1;
    *word_of(set, number) |= bit_of(number);
    return 0;
}

int sigdelset(unsigned long *set, int number)
{
    if (!is_valid(number))
        return -1;
    *word_of(set, number) &= ~bit_of(number);
    return 0;
}

int sigismember(const unsigned long *set, int number)
{
    if (!is_valid(number))
        return -1;
    return (*word_of(set, number) & bit_of(number)) != 0;
}

// The texts of errors in memory of the caller: strerror_r as POSIX has it, and as GNU has it.

char *strerror(int error);

int __xpg_strerror_r(int error, char *text, unsigned long size)
{
    const char *known = strerror(error);
    unsigned long i = 0;
    for (; known[i] != 0; i++) {
        if (i + 1 >= size) {
            if (size != 0)
                text[i] = 0;
            return 34;
        }
        text[i] = known[i];
    }
    if (size == 0)
        return 34;
    text[i] = 0;
    return 0;
}

char *strerror_r(int error, char *text, unsigned long size)
{
    return strerror(error);
}

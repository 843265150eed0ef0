// Filling bytes: memset, bzero.

void *memset(void *to, int value, unsigned long size)
{
    unsigned char *target = to;
    unsigned long i = 0;
    if (((unsigned long)target & 7) == 0) {
        unsigned long long word = (unsigned char)value * 0x0101010101010101ULL;
        for (; size - i >= 8; i += 8)
            *(unsigned long long *)(target + i) = word;
    }
    for (; i < size; i++)
        target[i] = (unsigned char)value;
    return to;
}

void bzero(void *to, unsigned long size)
{
    memset(to, 0, size);
}

void explicit_bzero(void *to, unsigned long size)
{
    memset(to, 0, size);
}

void *__memset_chk(void *to, int value, unsigned long size, unsigned long room)
{
    return memset(to, value, size);
}

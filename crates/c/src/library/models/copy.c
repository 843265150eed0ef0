// Copying bytes: memcpy, mempcpy, memmove, bcopy.
//
// Where both addresses are multiples of eight, eight bytes travel in one access. Undefined bits are tracked one by one,
// so that copies padding and pointers unchanged.

void *__leno_copy(void *to, const void *from, unsigned long size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    unsigned long i = 0;
    if ((((unsigned long)target | (unsigned long)source) & 7) == 0) {
        for (; size - i >= 8; i += 8)
            *(unsigned long long *)(target + i) = *(const unsigned long long *)(source + i);
    }
    for (; i < size; i++)
        target[i] = source[i];
    return to;
}

static void copy_backwards(void *to, const void *from, unsigned long size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    unsigned long i = size;
    if ((((unsigned long)target | (unsigned long)source) & 7) == 0) {
        for (; (i & 7) != 0; i--)
            target[i - 1] = source[i - 1];
        for (; i != 0; i -= 8)
            *(unsigned long long *)(target + i - 8) = *(const unsigned long long *)(source + i - 8);
    }
    for (; i != 0; i--)
        target[i - 1] = source[i - 1];
}

void *memcpy(void *to, const void *from, unsigned long size)
{
    return __leno_copy(to, from, size);
}

void *mempcpy(void *to, const void *from, unsigned long size)
{
    __leno_copy(to, from, size);
    return (char *)to + size;
}

void *memmove(void *to, const void *from, unsigned long size)
{
    if ((unsigned long)to - (unsigned long)from >= size)
        __leno_copy(to, from, size);
    else
        copy_backwards(to, from, size);
    return to;
}

void bcopy(const void *from, void *to, unsigned long size)
{
    memmove(to, from, size);
}

void *__mempcpy(void *to, const void *from, unsigned long size)
{
    return mempcpy(to, from, size);
}

void *__memcpy_chk(void *to, const void *from, unsigned long size, unsigned long room)
{
    return __leno_copy(to, from, size);
}

void *__memmove_chk(void *to, const void *from, unsigned long size, unsigned long room)
{
    return memmove(to, from, size);
}

void *__mempcpy_chk(void *to, const void *from, unsigned long size, unsigned long room)
{
    return mempcpy(to, from, size);
}

// Copying bytes: memcpy, mempcpy, memmove, bcopy.
//
// Where both addresses are multiples of eight, eight bytes travel in one access. Undefined bits are tracked one by one,
// so that copies padding and pointers unchanged.
//
// memcpy and mempcpy must not be given areas that overlap (C11 7.24.2.1). The same area twice is let pass: compilers
// themselves copy structures that way.

void __leno_assert_apart(int is_apart);

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

static void check_apart(const void *to, const void *from, unsigned long size)
{
    unsigned long ahead = (unsigned long)to - (unsigned long)from, behind = (unsigned long)from - (unsigned long)to;
    __leno_assert_apart(ahead == 0 || (ahead >= size) & (behind >= size));
}

void *memcpy(void *to, const void *from, unsigned long size)
{
    check_apart(to, from, size);
    return __leno_copy(to, from, size);
}

void *mempcpy(void *to, const void *from, unsigned long size)
{
    check_apart(to, from, size);
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
    return memcpy(to, from, size);
}

void *__memmove_chk(void *to, const void *from, unsigned long size, unsigned long room)
{
    return memmove(to, from, size);
}

void *__mempcpy_chk(void *to, const void *from, unsigned long size, unsigned long room)
{
    return mempcpy(to, from, size);
}

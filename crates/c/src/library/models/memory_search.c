// Looking at bytes: memcmp, bcmp, memchr, memrchr, rawmemchr, memccpy, memmem.

void __leno_assert_apart(int is_apart);

int memcmp(const void *left, const void *right, unsigned long size)
{
    const unsigned char *a = left, *b = right;
    for (unsigned long i = 0; i < size; i++) {
        unsigned char x = a[i], y = b[i];
        if (x != y)
            return x - y;
    }
    return 0;
}

int bcmp(const void *left, const void *right, unsigned long size)
{
    return memcmp(left, right, size);
}

void *memchr(const void *in, int wanted, unsigned long size)
{
    const unsigned char *s = in;
    for (unsigned long i = 0; i < size; i++)
        if (s[i] == (unsigned char)wanted)
            return (void *)(s + i);
    return 0;
}

void *memrchr(const void *in, int wanted, unsigned long size)
{
    const unsigned char *s = in;
    for (unsigned long i = size; i != 0; i--)
        if (s[i - 1] == (unsigned char)wanted)
            return (void *)(s + i - 1);
    return 0;
}

void *rawmemchr(const void *in, int wanted)
{
    const unsigned char *s = in;
    while (*s != (unsigned char)wanted)
        s++;
    return (void *)s;
}

void *memccpy(void *to, const void *from, int last, unsigned long size)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    for (unsigned long i = 0; i < size; i++) {
        unsigned char byte = source[i];
        __leno_assert_apart((source + i != target) & (target + i != source));
        target[i] = byte;
        if (byte == (unsigned char)last)
            return target + i + 1;
    }
    return 0;
}

void *memmem(const void *in, unsigned long size, const void *wanted, unsigned long length)
{
    const unsigned char *s = in;
    if (length > size)
        return 0;
    for (unsigned long i = 0; i <= size - length; i++)
        if (memcmp(s + i, wanted, length) == 0)
            return (void *)(s + i);
    return 0;
}

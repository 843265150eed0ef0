// Multibyte characters of the "C" locale: one byte each, ASCII only.

int *__errno_location(void);

int btowc(int c)
{
    return (unsigned)c < 128u ? c : -1;
}

int wctob(int c)
{
    return (unsigned)c < 128u ? c : -1;
}

int mblen(const char *s, unsigned long size)
{
    if (!s || size == 0)
        return s ? -1 : 0;
    signed char c = *s;
    return c < 0 ? -1 : c != 0;
}

int mbtowc(int *to, const char *s, unsigned long size)
{
    if (!s || size == 0)
        return s ? -1 : 0;
    signed char c = *s;
    if (c < 0) {
        *__errno_location() = 84;
        return -1;
    }
    if (to)
        *to = c;
    return c != 0;
}

int wctomb(char *to, int c)
{
    if (!to)
        return 0;
    if ((unsigned)c >= 128u) {
        *__errno_location() = 84;
        return -1;
    }
    *to = (char)c;
    return 1;
}

unsigned long mbstowcs(int *to, const char *from, unsigned long count)
{
    for (unsigned long i = 0; !to || i < count; i++) {
        signed char c = from[i];
        if (c < 0) {
            *__errno_location() = 84;
            return ~0UL;
        }
        if (to)
            to[i] = c;
        if (c == 0)
            return i;
    }
    return count;
}

unsigned long wcstombs(char *to, const int *from, unsigned long size)
{
    for (unsigned long i = 0; !to || i < size; i++) {
        int c = from[i];
        if ((unsigned)c >= 128u) {
            *__errno_location() = 84;
            return ~0UL;
        }
        if (to)
            to[i] = (char)c;
        if (c == 0)
            return i;
    }
    return size;
}

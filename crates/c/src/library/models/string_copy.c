// Copying strings: strcpy, strncpy, stpcpy, stpncpy, strcat, strncat, strlcpy, strlcat.
//
// Source and target must not overlap (C11 7.24.2.3): what is read is never where something was or will be written.

void __leno_assert_apart(int is_apart);

char *stpcpy(char *to, const char *from)
{
    const char *source = from, *target = to;
    for (;; to++, from++) {
        char c = *from;
        __leno_assert_apart((from != target) & (to != source));
        *to = c;
        if (c == 0)
            return to;
    }
}

char *strcpy(char *to, const char *from)
{
    stpcpy(to, from);
    return to;
}

char *stpncpy(char *to, const char *from, unsigned long size)
{
    unsigned long i = 0;
    for (; i < size; i++) {
        char c = from[i];
        __leno_assert_apart((unsigned long)(from + i) - (unsigned long)to >= size);
        if (c == 0)
            break;
        to[i] = c;
    }
    char *end = to + i;
    for (; i < size; i++)
        to[i] = 0;
    return end;
}

char *strncpy(char *to, const char *from, unsigned long size)
{
    stpncpy(to, from, size);
    return to;
}

char *strcat(char *to, const char *from)
{
    char *end = to;
    while (*end != 0)
        end++;
    stpcpy(end, from);
    return to;
}

char *strncat(char *to, const char *from, unsigned long size)
{
    char *end = to;
    while (*end != 0)
        end++;
    unsigned long i = 0;
    for (; i < size; i++) {
        char c = from[i];
        __leno_assert_apart((from + i != end) & (end + i != from));
        if (c == 0)
            break;
        end[i] = c;
    }
    end[i] = 0;
    return to;
}

unsigned long strlcpy(char *to, const char *from, unsigned long size)
{
    unsigned long i = 0;
    for (;; i++) {
        char c = from[i];
        __leno_assert_apart((unsigned long)(from + i) - (unsigned long)to >= size);
        if (c == 0)
            break;
        if (i + 1 < size)
            to[i] = c;
    }
    if (size != 0)
        to[i < size ? i : size - 1] = 0;
    return i;
}

unsigned long strlcat(char *to, const char *from, unsigned long size)
{
    unsigned long used = 0;
    while (used < size && to[used] != 0)
        used++;
    return used + strlcpy(to + used, from, size - used);
}

char *__stpcpy(char *to, const char *from)
{
    return stpcpy(to, from);
}

char *__strcpy_chk(char *to, const char *from, unsigned long room)
{
    return strcpy(to, from);
}

char *__strncpy_chk(char *to, const char *from, unsigned long size, unsigned long room)
{
    return strncpy(to, from, size);
}

char *__strcat_chk(char *to, const char *from, unsigned long room)
{
    return strcat(to, from);
}

char *__strncat_chk(char *to, const char *from, unsigned long size, unsigned long room)
{
    return strncat(to, from, size);
}

// Copying strings: strcpy, strncpy, stpcpy, stpncpy, strcat, strncat, strlcpy, strlcat.
//
// Source and target must not overlap (C11 7.24.2.3): what is read is never where something was or will be written.
//
// The functions whose names end in _chk know how much room there is. Calls with a target that is an array inside of a
// structure or of another array become calls of these.

void __leno_assert_apart(int is_apart);
void __leno_assert_room(int has_room);

char *__stpcpy_chk(char *to, const char *from, unsigned long room)
{
    const char *source = from, *target = to;
    for (;; to++, from++, room--) {
        char c = *from;
        __leno_assert_apart((from != target) & (to != source));
        __leno_assert_room(room != 0);
        *to = c;
        if (c == 0)
            return to;
    }
}

char *stpcpy(char *to, const char *from)
{
    return __stpcpy_chk(to, from, -1);
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

static void append(char *end, const char *from, unsigned long size, unsigned long room)
{
    unsigned long i = 0;
    for (; i < size; i++) {
        char c = from[i];
        __leno_assert_apart((from + i != end) & (end + i != from));
        if (c == 0)
            break;
        __leno_assert_room(i < room);
        end[i] = c;
    }
    __leno_assert_room(i < room);
    end[i] = 0;
}

char *strncat(char *to, const char *from, unsigned long size)
{
    char *end = to;
    while (*end != 0)
        end++;
    append(end, from, size, -1);
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
    __stpcpy_chk(to, from, room);
    return to;
}

char *__stpncpy_chk(char *to, const char *from, unsigned long size, unsigned long room)
{
    __leno_assert_room(size <= room);
    return stpncpy(to, from, size);
}

char *__strncpy_chk(char *to, const char *from, unsigned long size, unsigned long room)
{
    __leno_assert_room(size <= room);
    return strncpy(to, from, size);
}

char *__strcat_chk(char *to, const char *from, unsigned long room)
{
    char *end = to;
    for (; *end != 0; room -= room != 0)
        end++;
    __stpcpy_chk(end, from, room);
    return to;
}

char *__strncat_chk(char *to, const char *from, unsigned long size, unsigned long room)
{
    char *end = to;
    for (; *end != 0; room -= room != 0)
        end++;
    append(end, from, size, room);
    return to;
}

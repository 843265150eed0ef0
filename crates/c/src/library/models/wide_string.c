// Wide strings: wcslen, wcsnlen, wcscpy, wcsncpy, wcscat, wcscmp, wcsncmp, wcschr, wcsrchr, wcsstr, wcsdup, wmem*.

void *malloc(unsigned long size);
void __leno_assert_apart(int is_apart);

unsigned long wcslen(const int *s)
{
    unsigned long length = 0;
    while (s[length] != 0)
        length++;
    return length;
}

unsigned long wcsnlen(const int *s, unsigned long limit)
{
    unsigned long length = 0;
    while (length < limit && s[length] != 0)
        length++;
    return length;
}

static int *copy(int *to, const int *from, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        to[i] = from[i];
    return to;
}

int *wmemcpy(int *to, const int *from, unsigned long count)
{
    unsigned long ahead = (unsigned long)to - (unsigned long)from, behind = (unsigned long)from - (unsigned long)to;
    unsigned long size = count * sizeof(int);
    __leno_assert_apart(ahead == 0 || (ahead >= size) & (behind >= size));
    return copy(to, from, count);
}

int *wmemmove(int *to, const int *from, unsigned long count)
{
    if ((unsigned long)to - (unsigned long)from >= count * sizeof(int))
        return copy(to, from, count);
    for (unsigned long i = count; i != 0; i--)
        to[i - 1] = from[i - 1];
    return to;
}

int *wmemset(int *to, int value, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        to[i] = value;
    return to;
}

int wmemcmp(const int *left, const int *right, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        int a = left[i], b = right[i];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

int *wmemchr(const int *s, int wanted, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        if (s[i] == wanted)
            return (int *)(s + i);
    return 0;
}

int *wcscpy(int *to, const int *from)
{
    unsigned long i = 0;
    for (;; i++) {
        int c = from[i];
        __leno_assert_apart((from + i != to) & (to + i != from));
        to[i] = c;
        if (c == 0)
            return to;
    }
}

int *wcsncpy(int *to, const int *from, unsigned long count)
{
    unsigned long i = 0;
    for (; i < count; i++) {
        int c = from[i];
        if (c == 0)
            break;
        to[i] = c;
    }
    for (; i < count; i++)
        to[i] = 0;
    return to;
}

int *wcscat(int *to, const int *from)
{
    wcscpy(to + wcslen(to), from);
    return to;
}

int *wcsncat(int *to, const int *from, unsigned long count)
{
    unsigned long used = wcslen(to), i = 0;
    for (; i < count; i++) {
        int c = from[i];
        if (c == 0)
            break;
        to[used + i] = c;
    }
    to[used + i] = 0;
    return to;
}

int wcscmp(const int *left, const int *right)
{
    for (;; left++, right++) {
        int a = *left, b = *right;
        if (a != b)
            return a < b ? -1 : 1;
        if (a == 0)
            return 0;
    }
}

int wcsncmp(const int *left, const int *right, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        int a = left[i], b = right[i];
        if (a != b)
            return a < b ? -1 : 1;
        if (a == 0)
            return 0;
    }
    return 0;
}

int *wcschr(const int *s, int wanted)
{
    for (;; s++) {
        int c = *s;
        if (c == wanted)
            return (int *)s;
        if (c == 0)
            return 0;
    }
}

int *wcsrchr(const int *s, int wanted)
{
    const int *found = 0;
    for (;; s++) {
        int c = *s;
        if (c == wanted)
            found = s;
        if (c == 0)
            return (int *)found;
    }
}

int *wcsstr(const int *s, const int *wanted)
{
    for (;; s++) {
        unsigned long i = 0;
        while (wanted[i] != 0 && s[i] == wanted[i])
            i++;
        if (wanted[i] == 0)
            return (int *)s;
        if (s[i] == 0)
            return 0;
    }
}

int *wcsdup(const int *s)
{
    unsigned long count = wcslen(s) + 1;
    int *copy = malloc(count * sizeof(int));
    return copy ? wmemcpy(copy, s, count) : 0;
}

// Searching strings: strchr, strchrnul, strrchr, index, rindex, strstr, strcasestr, strspn, strcspn, strpbrk, basename.

char *strchrnul(const char *s, int wanted)
{
    for (;; s++) {
        char c = *s;
        if (c == (char)wanted || c == 0)
            return (char *)s;
    }
}

char *strchr(const char *s, int wanted)
{
    for (;; s++) {
        char c = *s;
        if (c == (char)wanted)
            return (char *)s;
        if (c == 0)
            return 0;
    }
}

char *strrchr(const char *s, int wanted)
{
    const char *found = 0;
    for (;; s++) {
        char c = *s;
        if (c == (char)wanted)
            found = s;
        if (c == 0)
            return (char *)found;
    }
}

char *index(const char *s, int wanted)
{
    return strchr(s, wanted);
}

char *rindex(const char *s, int wanted)
{
    return strrchr(s, wanted);
}

static int same(char a, char b, int fold)
{
    unsigned char x = a, y = b;
    if (fold) {
        x += x - 'A' < 26u ? 32 : 0;
        y += y - 'A' < 26u ? 32 : 0;
    }
    return x == y;
}

static char *find(const char *s, const char *wanted, int fold)
{
    for (;; s++) {
        unsigned long i = 0;
        while (wanted[i] != 0 && same(s[i], wanted[i], fold))
            i++;
        if (wanted[i] == 0)
            return (char *)s;
        if (s[i] == 0)
            return 0;
    }
}

char *strstr(const char *s, const char *wanted)
{
    return find(s, wanted, 0);
}

char *strcasestr(const char *s, const char *wanted)
{
    return find(s, wanted, 1);
}

static int is_one_of(char c, const char *set)
{
    for (;; set++) {
        char member = *set;
        if (member == 0)
            return 0;
        if (member == c)
            return 1;
    }
}

// How many characters at the start are in the set (wanted = 1) or are not (wanted = 0).
static unsigned long span(const char *s, const char *set, int wanted)
{
    for (unsigned long length = 0;; length++) {
        char c = s[length];
        if (c == 0 || is_one_of(c, set) != wanted)
            return length;
    }
}

unsigned long strspn(const char *s, const char *set)
{
    return span(s, set, 1);
}

unsigned long strcspn(const char *s, const char *set)
{
    return span(s, set, 0);
}

char *strpbrk(const char *s, const char *set)
{
    s += strcspn(s, set);
    return *s != 0 ? (char *)s : 0;
}

char *basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (char *)(slash ? slash + 1 : path);
}

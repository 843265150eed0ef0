// Cutting strings: strtok, strtok_r, strsep. strtok's place is one for all threads, as C says: using it in two is a race.

unsigned long strspn(const char *s, const char *set);
unsigned long strcspn(const char *s, const char *set);

char *strtok_r(char *s, const char *separators, char **rest)
{
    if (!s)
        s = *rest;
    if (!s)
        return 0;
    s += strspn(s, separators);
    if (*s == 0) {
        *rest = 0;
        return 0;
    }
    char *end = s + strcspn(s, separators);
    if (*end == 0) {
        *rest = 0;
    } else {
        *end = 0;
        *rest = end + 1;
    }
    return s;
}

static char *place;

char *strtok(char *s, const char *separators)
{
    return strtok_r(s, separators, &place);
}

char *__strtok_r(char *s, const char *separators, char **rest)
{
    return strtok_r(s, separators, rest);
}

char *strsep(char **rest, const char *separators)
{
    char *s = *rest;
    if (!s)
        return 0;
    char *end = s + strcspn(s, separators);
    if (*end == 0) {
        *rest = 0;
    } else {
        *end = 0;
        *rest = end + 1;
    }
    return s;
}

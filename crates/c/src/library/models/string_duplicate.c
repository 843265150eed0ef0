// strdup, strndup.

void *malloc(unsigned long size);
void *__leno_copy(void *to, const void *from, unsigned long size);
unsigned long strlen(const char *s);
unsigned long strnlen(const char *s, unsigned long limit);

char *strdup(const char *s)
{
    unsigned long size = strlen(s) + 1;
    char *copy = malloc(size);
    return copy ? __leno_copy(copy, s, size) : 0;
}

char *strndup(const char *s, unsigned long limit)
{
    unsigned long length = strnlen(s, limit);
    char *copy = malloc(length + 1);
    if (!copy)
        return 0;
    __leno_copy(copy, s, length);
    copy[length] = 0;
    return copy;
}

char *__strdup(const char *s)
{
    return strdup(s);
}

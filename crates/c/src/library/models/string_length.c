// strlen, strnlen.

unsigned long strlen(const char *s)
{
    unsigned long length = 0;
    while (s[length] != 0)
        length++;
    return length;
}

unsigned long strnlen(const char *s, unsigned long limit)
{
    unsigned long length = 0;
    while (length < limit && s[length] != 0)
        length++;
    return length;
}

// Printing to memory that is allocated for it: asprintf, vasprintf.

void *malloc(unsigned long size);
int vsnprintf(char *to, unsigned long size, const char *format, __builtin_va_list arguments);

int vasprintf(char **to, const char *format, __builtin_va_list arguments)
{
    __builtin_va_list again;
    __builtin_va_copy(again, arguments);
    int length = vsnprintf(0, 0, format, again);
    __builtin_va_end(again);
    if (length < 0)
        return -1;
    char *text = malloc((unsigned long)length + 1);
    if (!text)
        return -1;
    vsnprintf(text, (unsigned long)length + 1, format, arguments);
    *to = text;
    return length;
}

int asprintf(char **to, const char *format, ...)
{
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    int length = vasprintf(to, format, arguments);
    __builtin_va_end(arguments);
    return length;
}

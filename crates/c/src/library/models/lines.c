// Lines of any length: getline, getdelim. The buffer grows as glibc's does.

void *realloc(void *old, unsigned long size);
int getc(void *stream);
int *__errno_location(void);

long getdelim(char **line, unsigned long *size, int delimiter, void *stream)
{
    if (!line || !size) {
        *__errno_location() = 22;
        return -1;
    }
    if (!*line || *size == 0) {
        char *first = realloc(*line, 120);
        if (!first)
            return -1;
        *line = first;
        *size = 120;
    }
    unsigned long used = 0;
    for (int c = getc(stream); c != -1; c = getc(stream)) {
        if (used + 2 > *size) {
            char *larger = realloc(*line, 2 * *size);
            if (!larger)
                return -1;
            *line = larger;
            *size = 2 * *size;
        }
        (*line)[used++] = (char)c;
        if (c == delimiter)
            break;
    }
    if (used == 0)
        return -1;
    (*line)[used] = 0;
    return (long)used;
}

long getline(char **line, unsigned long *size, void *stream)
{
    return getdelim(line, size, '\n', stream);
}

long __getdelim(char **line, unsigned long *size, int delimiter, void *stream)
{
    return getdelim(line, size, delimiter, stream);
}

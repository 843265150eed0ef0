// Looking elements up: bsearch, lfind, lsearch.

void *__leno_copy(void *to, const void *from, unsigned long size);

void *bsearch(const void *key, const void *array, unsigned long count, unsigned long size,
              int (*compare)(const void *, const void *))
{
    const char *base = array;
    unsigned long from = 0, to = count;
    while (from < to) {
        unsigned long middle = from + (to - from) / 2;
        const char *element = base + middle * size;
        int order = compare(key, element);
        if (order == 0)
            return (void *)element;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return 0;
}

void *lfind(const void *key, const void *array, unsigned long *count, unsigned long size,
            int (*compare)(const void *, const void *))
{
    const char *base = array;
    unsigned long limit = *count;
    for (unsigned long i = 0; i < limit; i++)
        if (compare(key, base + i * size) == 0)
            return (void *)(base + i * size);
    return 0;
}

void *lsearch(const void *key, void *array, unsigned long *count, unsigned long size,
              int (*compare)(const void *, const void *))
{
    void *found = lfind(key, array, count, size, compare);
    if (found)
        return found;
    return __leno_copy((char *)array + (*count)++ * size, key, size);
}

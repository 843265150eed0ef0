// qsort and qsort_r: a stable merge sort, as glibc's is, so that equal elements come out in the same order there and here.
//
// Runs of eight are sorted by insertion, in place; longer ones are merged through a buffer.

void *malloc(unsigned long size);
void free(void *object);
void *__leno_copy(void *to, const void *from, unsigned long size);

typedef int compare_with(const void *left, const void *right, void *context);

static void swap(unsigned char *a, unsigned char *b, unsigned long size)
{
    unsigned long i = 0;
    if ((((unsigned long)a | (unsigned long)b) & 7) == 0) {
        for (; size - i >= 8; i += 8) {
            unsigned long long *x = (unsigned long long *)(a + i), *y = (unsigned long long *)(b + i);
            unsigned long long kept = *x;
            *x = *y;
            *y = kept;
        }
    }
    for (; i < size; i++) {
        unsigned char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void insertion_sort(unsigned char *base, unsigned long count, unsigned long size, compare_with *compare, void *context)
{
    for (unsigned long i = 1; i < count; i++)
        for (unsigned long j = i; j != 0; j--) {
            unsigned char *right = base + j * size;
            if (compare(right - size, right, context) <= 0)
                break;
            swap(right - size, right, size);
        }
}

// Merges the sorted [0, middle) and [middle, count); `buffer` holds the first of them meanwhile.
static void merge(unsigned char *base, unsigned long middle, unsigned long count, unsigned long size, unsigned char *buffer,
                  compare_with *compare, void *context)
{
    __leno_copy(buffer, base, middle * size);
    unsigned long left = 0, right = middle, to = 0;
    while (left < middle && right < count) {
        if (compare(buffer + left * size, base + right * size, context) <= 0)
            __leno_copy(base + to++ * size, buffer + left++ * size, size);
        else
            __leno_copy(base + to++ * size, base + right++ * size, size);
    }
    __leno_copy(base + to * size, buffer + left * size, (middle - left) * size);
}

void qsort_r(void *array, unsigned long count, unsigned long size, compare_with *compare, void *context)
{
    unsigned char *base = array;
    for (unsigned long from = 0; from < count; from += 8)
        insertion_sort(base + from * size, count - from < 8 ? count - from : 8, size, compare, context);
    if (count <= 8)
        return;
    unsigned char *buffer = malloc(count * size);
    if (!buffer) {
        insertion_sort(base, count, size, compare, context);
        return;
    }
    for (unsigned long run = 8; run < count; run *= 2)
        for (unsigned long from = 0; count - from > run; from += 2 * run) {
            unsigned long both = count - from < 2 * run ? count - from : 2 * run;
            merge(base + from * size, run, both, size, buffer, compare, context);
            if (count - from <= 2 * run)
                break;
        }
    free(buffer);
}

static int without_context(const void *left, const void *right, void *context)
{
    int (**compare)(const void *, const void *) = context;
    return (*compare)(left, right);
}

void qsort(void *array, unsigned long count, unsigned long size, int (*compare)(const void *, const void *))
{
    qsort_r(array, count, size, without_context, &compare);
}

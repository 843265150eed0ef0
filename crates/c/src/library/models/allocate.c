// What is built on allocation: realloc, reallocarray, aligned_alloc, memalign, valloc, posix_memalign, cfree.
//
// realloc always moves: a program that keeps the old address is wrong, and is found out.

void *malloc(unsigned long size);
void free(void *object);
void *__leno_copy(void *to, const void *from, unsigned long size);
void *__leno_allocate(unsigned long size, unsigned long align);
unsigned long __leno_object_size(const void *object);
int *__errno_location(void);

void *realloc(void *old, unsigned long size)
{
    if (!old)
        return malloc(size);
    if (size == 0) {
        free(old);
        return 0;
    }
    void *object = malloc(size);
    if (!object)
        return 0;
    unsigned long kept = __leno_object_size(old);
    __leno_copy(object, old, kept < size ? kept : size);
    free(old);
    return object;
}

void *reallocarray(void *old, unsigned long count, unsigned long size)
{
    unsigned long total;
    if (__builtin_mul_overflow(count, size, &total)) {
        *__errno_location() = 12;
        return 0;
    }
    return realloc(old, total);
}

// The alignment of an allocation is part of the instruction, so it is chosen among a few.
static void *allocate_aligned(unsigned long align, unsigned long size)
{
    if (align <= 16)
        return __leno_allocate(size, 16);
    if (align <= 64)
        return __leno_allocate(size, 64);
    if (align <= 4096)
        return __leno_allocate(size, 4096);
    if (align <= 1048576)
        return __leno_allocate(size, 1048576);
    return 0;
}

static int is_power_of_two(unsigned long number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

void *memalign(unsigned long align, unsigned long size)
{
    void *object = allocate_aligned(align, size);
    if (!object)
        *__errno_location() = 12;
    return object;
}

void *aligned_alloc(unsigned long align, unsigned long size)
{
    if (!is_power_of_two(align)) {
        *__errno_location() = 22;
        return 0;
    }
    return memalign(align, size);
}

void *valloc(unsigned long size)
{
    return memalign(4096, size);
}

int posix_memalign(void **result, unsigned long align, unsigned long size)
{
    if (!is_power_of_two(align) || align % sizeof(void *) != 0)
        return 22;
    void *object = allocate_aligned(align, size);
    if (!object)
        return 12;
    *result = object;
    return 0;
}

void cfree(void *object)
{
    free(object);
}

unsigned long malloc_usable_size(void *object)
{
    return __leno_object_size(object);
}

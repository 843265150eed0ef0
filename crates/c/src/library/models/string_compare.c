// Comparing strings: strcmp, strncmp, strcoll, strxfrm (of the "C" locale), strcasecmp, strncasecmp.

int strcmp(const char *left, const char *right)
{
    for (;; left++, right++) {
        unsigned char a = *left, b = *right;
        if (a != b || a == 0)
            return a - b;
    }
}

int strncmp(const char *left, const char *right, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++) {
        unsigned char a = left[i], b = right[i];
        if (a != b || a == 0)
            return a - b;
    }
    return 0;
}

int strcoll(const char *left, const char *right)
{
    return strcmp(left, right);
}

unsigned long strxfrm(char *to, const char *from, unsigned long size)
{
    unsigned long i = 0;
    for (; from[i] != 0; i++)
        if (i < size)
            to[i] = from[i];
    if (i < size)
        to[i] = 0;
    return i;
}

static int lower(unsigned char c)
{
    return c + (c - 'A' < 26u ? 32 : 0);
}

int strcasecmp(const char *left, const char *right)
{
    for (;; left++, right++) {
        int a = lower(*left), b = lower(*right);
        if (a != b || a == 0)
            return a - b;
    }
}

int strncasecmp(const char *left, const char *right, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++) {
        int a = lower(left[i]), b = lower(right[i]);
        if (a != b || a == 0)
            return a - b;
    }
    return 0;
}

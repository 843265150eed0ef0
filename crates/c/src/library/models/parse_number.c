// Numbers from text: strtol, strtoul, strtoll, strtoull, strtoimax, strtoumax, atoi, atol, atoll.

int *__errno_location(void);

typedef struct {
    unsigned long long magnitude;
    int negative;
    int overflow;
} parsed;

static int digit_value(char c)
{
    unsigned lower = (unsigned char)c | 32;
    if (c >= '0' && c <= '9')
        return c - '0';
    return lower >= 'a' && lower <= 'z' ? (int)(lower - 'a') + 10 : 99;
}

// Reads the longest number at `text`; `*end` (if asked for) is where it stops, or `text` when there is none.
static parsed parse(const char *text, char **end, int base, unsigned long long limit)
{
    parsed result = {0, 0, 0};
    const char *s = text;
    if (base < 0 || base == 1 || base > 36) {
        *__errno_location() = 22;
        return result;
    }
    while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
        s++;
    if (*s == '-' || *s == '+')
        result.negative = *s++ == '-';
    if ((base == 0 || base == 16) && *s == '0' && (s[1] | 32) == 'x' && digit_value(s[2]) < 16) {
        s += 2;
        base = 16;
    }
    if (base == 0)
        base = *s == '0' ? 8 : 10;
    const char *digits = s;
    for (;; s++) {
        int digit = digit_value(*s);
        if (digit >= base)
            break;
        if (result.magnitude > limit / (unsigned)base || result.magnitude * (unsigned)base > limit - (unsigned)digit)
            result.overflow = 1;
        else
            result.magnitude = result.magnitude * (unsigned)base + (unsigned)digit;
    }
    if (end)
        *end = (char *)(s == digits ? text : s);
    return result;
}

static long long parse_signed(const char *text, char **end, int base, unsigned long long max)
{
    parsed number = parse(text, end, base, max + 1);
    if (number.overflow || number.magnitude > max + (unsigned)number.negative) {
        *__errno_location() = 34;
        number.magnitude = max + (unsigned)number.negative;
    }
    return (long long)(number.negative ? 0 - number.magnitude : number.magnitude);
}

static unsigned long long parse_unsigned(const char *text, char **end, int base, unsigned long long max)
{
    parsed number = parse(text, end, base, max);
    if (number.overflow) {
        *__errno_location() = 34;
        return max;
    }
    return number.negative ? 0 - number.magnitude : number.magnitude;
}

long strtol(const char *text, char **end, int base)
{
    return (long)parse_signed(text, end, base, ~0UL >> 1);
}

unsigned long strtoul(const char *text, char **end, int base)
{
    return (unsigned long)parse_unsigned(text, end, base, ~0UL);
}

long long strtoll(const char *text, char **end, int base)
{
    return parse_signed(text, end, base, ~0ULL >> 1);
}

unsigned long long strtoull(const char *text, char **end, int base)
{
    return parse_unsigned(text, end, base, ~0ULL);
}

long long strtoimax(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}

unsigned long long strtoumax(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}

int atoi(const char *text)
{
    return (int)strtol(text, 0, 10);
}

long atol(const char *text)
{
    return strtol(text, 0, 10);
}

long long atoll(const char *text)
{
    return strtoll(text, 0, 10);
}

long __isoc23_strtol(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
    return strtoul(text, end, base);
}

long long __isoc23_strtoll(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}

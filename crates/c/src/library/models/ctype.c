// Character classes of the "C" locale. True is the bit that glibc gives, for programs that print it.

static int bit_if(int condition, int bit)
{
    return condition ? bit : 0;
}

static int within(int c, int first, unsigned count)
{
    return (unsigned)c - (unsigned)first < count;
}

int isupper(int c)
{
    return bit_if(within(c, 'A', 26), 256);
}

int islower(int c)
{
    return bit_if(within(c, 'a', 26), 512);
}

int isalpha(int c)
{
    return bit_if(within(c | 32, 'a', 26), 1024);
}

int isdigit(int c)
{
    return bit_if(within(c, '0', 10), 2048);
}

int isxdigit(int c)
{
    return bit_if(within(c, '0', 10) || within(c | 32, 'a', 6), 4096);
}

int isspace(int c)
{
    return bit_if(c == ' ' || within(c, '\t', 5), 8192);
}

int isprint(int c)
{
    return bit_if(within(c, ' ', 95), 16384);
}

int isgraph(int c)
{
    return bit_if(within(c, '!', 94), 32768);
}

int isblank(int c)
{
    return bit_if(c == ' ' || c == '\t', 1);
}

int iscntrl(int c)
{
    return bit_if((unsigned)c < 32u || c == 127, 2);
}

int isalnum(int c)
{
    return bit_if(within(c, '0', 10) || within(c | 32, 'a', 26), 8);
}

int ispunct(int c)
{
    return bit_if(within(c, '!', 94) && !(within(c, '0', 10) || within(c | 32, 'a', 26)), 4);
}

int isascii(int c)
{
    return (unsigned)c < 128u;
}

int toascii(int c)
{
    return c & 127;
}

int tolower(int c)
{
    return within(c, 'A', 26) ? c + 32 : c;
}

int toupper(int c)
{
    return within(c, 'a', 26) ? c - 32 : c;
}

int _tolower(int c)
{
    return c + 32;
}

int _toupper(int c)
{
    return c - 32;
}

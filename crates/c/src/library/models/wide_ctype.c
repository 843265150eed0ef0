// Classes of wide characters: those of ASCII; no other character is in any class.

int iswupper(unsigned c)
{
    return c - 'A' < 26u;
}

int iswlower(unsigned c)
{
    return c - 'a' < 26u;
}

int iswalpha(unsigned c)
{
    return (c | 32) - 'a' < 26u;
}

int iswdigit(unsigned c)
{
    return c - '0' < 10u;
}

int iswxdigit(unsigned c)
{
    return c - '0' < 10u || (c | 32) - 'a' < 6u;
}

int iswspace(unsigned c)
{
    return c == ' ' || c - '\t' < 5u;
}

int iswprint(unsigned c)
{
    return c - ' ' < 95u;
}

int iswgraph(unsigned c)
{
    return c - '!' < 94u;
}

int iswblank(unsigned c)
{
    return c == ' ' || c == '\t';
}

int iswcntrl(unsigned c)
{
    return c < 32u || c == 127;
}

int iswalnum(unsigned c)
{
    return iswdigit(c) || iswalpha(c);
}

int iswpunct(unsigned c)
{
    return iswgraph(c) && !iswalnum(c);
}

unsigned towlower(unsigned c)
{
    return iswupper(c) ? c + 32 : c;
}

unsigned towupper(unsigned c)
{
    return iswlower(c) ? c - 32 : c;
}

// Integer arithmetic: abs, labs, llabs, imaxabs, div, ldiv, lldiv, imaxdiv.

typedef struct {
    int quotient, remainder;
} int_division;

typedef struct {
    long quotient, remainder;
} long_division;

typedef struct {
    long long quotient, remainder;
} long_long_division;

int abs(int number)
{
    return number < 0 ? -number : number;
}

long labs(long number)
{
    return number < 0 ? -number : number;
}

long long llabs(long long number)
{
    return number < 0 ? -number : number;
}

long long imaxabs(long long number)
{
    return number < 0 ? -number : number;
}

int_division div(int number, int by)
{
    int_division result = {number / by, number % by};
    return result;
}

long_division ldiv(long number, long by)
{
    long_division result = {number / by, number % by};
    return result;
}

long_long_division lldiv(long long number, long long by)
{
    long_long_division result = {number / by, number % by};
    return result;
}

long_long_division imaxdiv(long long number, long long by)
{
    long_long_division result = {number / by, number % by};
    return result;
}

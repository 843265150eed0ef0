// Random numbers: any value of the range that the standard gives, at each call. Seeds are taken and not used.

unsigned __leno_nondet_uint(void);
unsigned long long __leno_nondet_ulonglong(void);

int rand(void)
{
    return (int)(__leno_nondet_uint() & 0x7fffffff);
}

int rand_r(unsigned *seed)
{
    unsigned next = __leno_nondet_uint();
    *seed += next;
    return (int)(next & 0x7fffffff);
}

void srand(unsigned seed)
{
}

long random(void)
{
    return (long)(__leno_nondet_uint() & 0x7fffffff);
}

void srandom(unsigned seed)
{
}

char *initstate(unsigned seed, char *state, unsigned long size)
{
    return state;
}

char *setstate(char *state)
{
    return state;
}

double drand48(void)
{
    return (double)(__leno_nondet_ulonglong() >> 16) / 281474976710656.0;
}

double erand48(unsigned short seed[3])
{
    seed[0]++;
    return drand48();
}

long lrand48(void)
{
    return random();
}

long nrand48(unsigned short seed[3])
{
    seed[0]++;
    return random();
}

long mrand48(void)
{
    return (long)(int)__leno_nondet_uint();
}

void srand48(long seed)
{
}

unsigned arc4random(void)
{
    return __leno_nondet_uint();
}

unsigned arc4random_uniform(unsigned bound)
{
    return bound < 2 ? 0 : __leno_nondet_uint() % bound;
}

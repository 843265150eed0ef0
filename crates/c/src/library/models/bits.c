// Counting and moving bits, without branches: what __builtin_clz and its like become, and ffs, htonl, …
//
// Of zero, clz and ctz give the width (C leaves it open).

int __leno_popcount32(unsigned x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = x + (x >> 4) & 0x0f0f0f0f;
    return (int)(x * 0x01010101 >> 24);
}

int __leno_popcount64(unsigned long long x)
{
    return __leno_popcount32((unsigned)x) + __leno_popcount32((unsigned)(x >> 32));
}

int __leno_parity32(unsigned x)
{
    return __leno_popcount32(x) & 1;
}

int __leno_parity64(unsigned long long x)
{
    return __leno_popcount64(x) & 1;
}

int __leno_clz32(unsigned x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return __leno_popcount32(~x);
}

int __leno_clz64(unsigned long long x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    x |= x >> 32;
    return __leno_popcount64(~x);
}

int __leno_ctz32(unsigned x)
{
    return __leno_popcount32(~x & x - 1);
}

int __leno_ctz64(unsigned long long x)
{
    return __leno_popcount64(~x & x - 1);
}

int __leno_clrsb32(int x)
{
    return __leno_clz32((unsigned)(x ^ x >> 31)) - 1;
}

int __leno_clrsb64(long long x)
{
    return __leno_clz64((unsigned long long)(x ^ x >> 63)) - 1;
}

int __leno_ffs32(int x)
{
    return (__leno_ctz32((unsigned)x) + 1) & -(x != 0);
}

int __leno_ffs64(long long x)
{
    return (__leno_ctz64((unsigned long long)x) + 1) & -(x != 0);
}

unsigned short __leno_bswap16(unsigned short x)
{
    return (unsigned short)(x << 8 | x >> 8);
}

unsigned __leno_bswap32(unsigned x)
{
    return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

unsigned long long __leno_bswap64(unsigned long long x)
{
    return (unsigned long long)__leno_bswap32((unsigned)x) << 32 | __leno_bswap32((unsigned)(x >> 32));
}

int ffs(int x)
{
    return __leno_ffs32(x);
}

int ffsl(long x)
{
    return __leno_ffs64(x);
}

int ffsll(long long x)
{
    return __leno_ffs64(x);
}

unsigned htonl(unsigned x)
{
    return __leno_bswap32(x);
}

unsigned ntohl(unsigned x)
{
    return __leno_bswap32(x);
}

unsigned short htons(unsigned short x)
{
    return __leno_bswap16(x);
}

unsigned short ntohs(unsigned short x)
{
    return __leno_bswap16(x);
}

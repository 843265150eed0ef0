// atoi, strtol and friends, with bases, ends and limits.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *end;
    printf("%d %d %d\n", atoi("42"), atoi("  -17xyz"), atoi("none"));
    printf("%ld ", strtol("0x1fz", &end, 0)); printf("%s\n", end);
    printf("%ld ", strtol("0777", &end, 0)); printf("[%s]\n", end);
    printf("%ld %ld\n", strtol("zz", NULL, 36), strtol("-101", NULL, 2));
    printf("%lu %llu\n", strtoul("4294967296", NULL, 10), strtoull("18446744073709551615", NULL, 10));
    errno = 0;
    printf("%d ", strtol("99999999999999999999", NULL, 10) == LONG_MAX);
    printf("%d\n", errno == ERANGE);
    printf("%.3f ", strtod("3.25e2abc", &end)); printf("%s\n", end);
    printf("%.2f %ld %lld\n", atof("-0.75"), atol("123456789012"), atoll("-5"));
    printf("%d %ld %lld\n", abs(-3), labs(-4L), llabs(-5LL));
    div_t d = div(-7, 2);
    printf("%d %d\n", d.quot, d.rem);
    printf("%ld ", strtol("   ", &end, 10)); printf("[%s]\n", end);
    return 0;
}
//~ STDOUT: 42 -17 0
//~ STDOUT: 31 z
//~ STDOUT: 511 []
//~ STDOUT: 1295 -5
//~ STDOUT: 4294967296 18446744073709551615
//~ STDOUT: 1 1
//~ STDOUT: 325.000 abc
//~ STDOUT: -0.75 123456789012 -5
//~ STDOUT: 3 4 5
//~ STDOUT: -3 -1
//~ STDOUT: 0 [   ]

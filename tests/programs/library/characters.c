// Character classes and case.
#include <ctype.h>
#include <stdio.h>

int main(void) {
    int alpha = 0, digit = 0, space = 0, upper = 0, lower = 0, punct = 0, xdigit = 0, alnum = 0, print = 0, cntrl = 0, graph = 0;
    for (int c = 0; c < 128; c++) {
        alpha += !!isalpha(c); digit += !!isdigit(c); space += !!isspace(c); upper += !!isupper(c);
        lower += !!islower(c); punct += !!ispunct(c); xdigit += !!isxdigit(c); alnum += !!isalnum(c);
        print += !!isprint(c); cntrl += !!iscntrl(c); graph += !!isgraph(c);
    }
    printf("%d %d %d %d %d %d %d %d %d %d %d\n", alpha, digit, space, upper, lower, punct, xdigit, alnum, print, cntrl, graph);
    for (const char *s = "Hello, World 42!"; *s; s++) putchar(isupper((unsigned char)*s) ? tolower(*s) : toupper(*s));
    puts("");
    printf("%d %d\n", tolower('['), toupper('1'));
    return 0;
}
//~ STDOUT: 52 10 6 26 26 32 22 62 95 33 94
//~ STDOUT: hELLO, wORLD 42!
//~ STDOUT: 91 49

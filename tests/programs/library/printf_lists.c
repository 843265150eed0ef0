// printf with a va_list, into memory, and with arguments by position.
#include <stdarg.h>
#include <stdio.h>
static void say(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
}
static int into(char *b, size_t n, const char *fmt, ...) {
    va_list ap, aq;
    va_start(ap, fmt);
    va_copy(aq, ap);
    int r = vsnprintf(b, n, fmt, ap);
    vfprintf(stdout, fmt, aq);
    va_end(ap);
    va_end(aq);
    return r;
}
int main(void) {
    say("%d %s %f %c %Lf %lld %p\n", 1, "two", 3.0, '4', 5.5L, 6LL, (void *)0);
    char b[10];
    int r = into(b, sizeof b, "%d-%s-%g|", 12345, "abcdef", 2.5);
    printf("%d %s\n", r, b);
    printf("%d\n", snprintf(b, 0, "%d", 123));
    printf("%d\n", sprintf(b, "%5.2f", 3.14159));
    puts(b);
    int n;
    printf("abc%n def\n", &n);
    printf("%d %d\n", n, printf("%s%s", "", ""));
    printf("%1$s %2$d %1$s\n", "pos", 7);
    return 0;
}
//~ STDOUT: 1 two 3.000000 4 5.500000 6 (nil)
//~ STDOUT: 12345-abcdef-2.5|17 12345-abc
//~ STDOUT: 3
//~ STDOUT: 5
//~ STDOUT:  3.14
//~ STDOUT: abc def
//~ STDOUT: 3 0
//~ STDOUT: pos 7 pos

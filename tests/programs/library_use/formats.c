// A format wants arguments, in number and in kind.
//~ NO-REPLAY: the real library does not report how it is used
//~ SAFE
//~ UNSAFE -DBUG=1: fewer arguments than its format asks for
//~ UNSAFE -DBUG=2: not of the kind that its format asks for
//~ UNSAFE -DBUG=3: not of the kind that its format asks for
//~ UNSAFE -DBUG=4: not of the kind that its format asks for
//~ UNSAFE -DBUG=5: fewer arguments than its format asks for
//~ UNSAFE -DBUG=6: access out of bounds
//~ UNSAFE -DBUG=7: not of the kind that its format asks for
//~ STDOUT: 1 two 3.5 c 4 0x5   6 100%
#include <stdarg.h>
#include <stdio.h>

static void print(char *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsprintf(to, format, arguments);
    va_end(arguments);
}

int main(void) {
    char text[32];
    int number = 0;
#if BUG == 1
    printf("%s %d\n", "one");
#elif BUG == 2
    fprintf(stderr, "%s\n", 1);
#elif BUG == 3
    printf("%d\n", 1.5);
#elif BUG == 4
    snprintf(text, sizeof text, "%f", 1);
#elif BUG == 5
    printf("%*d\n", 1);
#elif BUG == 6
    print(text, "%d %d", 1);
#elif BUG == 7
    sscanf("1", "%d", number);
#else
    print(text, "%d %u", 1, 2u);
    sscanf("1", "%d%*d", &number);
    printf("%d %s %.1f %c %ld %#x %*d 100%%\n", number, "two", 3.5, 'c', 4L, 5u, 3, 6);
#endif
    return 0;
}

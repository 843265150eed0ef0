// A text is not printed to where it comes from (C11 7.21.6.5p2).
//~ NO-REPLAY: the real library does not report how it is used
//~ SAFE
//~ UNSAFE -DBUG=1: the source and the target overlap
//~ UNSAFE -DBUG=2: the source and the target overlap
//~ UNSAFE -DBUG=3: the source and the target overlap
//~ UNSAFE -DBUG=4: the source and the target overlap
//~ UNSAFE -DBUG=5: the source and the target overlap
//~ UNKNOWN -DBUG=5 staged: may overlap
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static char buffer[32] = "one";

static void print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
}

int main(void) {
#if BUG == 1
    snprintf(buffer, sizeof buffer, "%s", buffer);
#elif BUG == 2
    sprintf(buffer, "%d%s", 1, buffer);
#elif BUG == 3
    print("%s two", buffer);
#elif BUG == 4
    sprintf(buffer + 2, "%s", buffer);
#elif BUG == 5
    sprintf(buffer, "%s", buffer + 1);
#else
    snprintf(buffer + 16, 16, "%.3s two", buffer);
    snprintf(buffer, 0, "%s", buffer);
    print("%s", "two");
#endif
    return 0;
}

// String conversions, truncation, and the relatives of printf.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int format(char *out, size_t size, const char *f, ...) {
    va_list ap;
    va_start(ap, f);
    int n = vsnprintf(out, size, f, ap);
    va_end(ap);
    return n;
}

int main(void) {
    char b[16];
    printf("[%s][%10s][%-10s][%.2s][%6.2s]\n", "abc", "abc", "abc", "abc", "abc");
    printf("[%.*s]\n", 3, "not terminated");
    int n = snprintf(b, sizeof b, "%s-%d", "a long string here", 42);
    printf("%d %s %zu\n", n, b, strlen(b));
    n = snprintf(NULL, 0, "%05d", 7);
    printf("%d\n", n);
    n = sprintf(b, "%c%c%c", 'x', 'y', 'z');
    printf("%d %s\n", n, b);
    printf("%d ", format(b, 5, "%d", 123456));
    puts(b);
    fprintf(stdout, "to %s\n", "stdout");
    fputs("fputs\n", stdout);
    putchar('c');
    putc('\n', stdout);
    fputc('d', stdout);
    puts("");
    fwrite("raw\n", 1, 4, stdout);
    fprintf(stderr, "not seen\n");
    printf("no newline at end");
    fflush(stdout);
    return 0;
}

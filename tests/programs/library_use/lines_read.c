// getline keeps the buffer that it is given, or another one.
//~ UNSAFE -DBUG=1: use after free
//~ UNSAFE -DBUG=2: null dereference
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = malloc(16);
    size_t size = 16;
#if BUG == 1
    free(line);
    while (getline(&line, &size, stdin) > 0)
        ;
    line[0] = 0;
#elif BUG == 2
    size_t *none = 0;
    *none = getline(&line, &size, stdin) > 0;
#else
    if (getline(&line, &size, stdin) > 0 && line[0] == 'x')
        puts(line);
#endif
    free(line);
    return 0;
}

// asprintf and getline allocate memory, which the caller frees.
//~ SAFE
//~ UNSAFE -DBUG=1: use after free
//~ PROPERTY: leak
//~ UNSAFE -DBUG=3: memory leak
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *text, *other = strdup("other");
#if BUG == 1
    free(other);
    asprintf(&text, "%s", other);
#else
    int length = asprintf(&text, "%s-%d", "one", 25);
    assert(length == 6);
#endif
#if BUG != 3
    free(text);
#endif
    free(other);
    return 0;
}

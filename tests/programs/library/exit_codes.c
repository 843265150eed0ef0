// `exit` flushes, runs handlers, and keeps the low byte.
#include <stdio.h>
#include <stdlib.h>

static void handler(void) { puts("handler"); }

int main(void) {
    atexit(handler);
    printf("before");
    if (getenv("SURELY_NOT_SET_ANYWHERE") == NULL) exit(256 + 42);
    return 1;
}
//~ EXIT: 42
//~ STDOUT: beforehandler

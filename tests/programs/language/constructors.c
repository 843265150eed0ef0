// Constructors run before `main`, destructors and `atexit` handlers after it.
#include <stdio.h>
#include <stdlib.h>

static int ready;
__attribute__((constructor)) static void before(void) { ready = 1; puts("constructor"); }
__attribute__((destructor)) static void after(void) { puts("destructor"); }
static void first(void) { puts("first registered"); }
static void second(void) { puts("second registered"); }

int main(void) {
    atexit(first);
    atexit(second);
    printf("main %d\n", ready);
    return 7;
}
//~ EXIT: 7
//~ STDOUT: constructor
//~ STDOUT: main 1
//~ STDOUT: second registered
//~ STDOUT: first registered
//~ STDOUT: destructor

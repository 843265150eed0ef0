// atexit, on_exit, destructors and constructors, exit from a nested call.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void first(void) { printf("first\n"); }
static void second(void) { printf("second\n"); }
static void with(int status, void *text) { printf("%d %s\n", status, (char *)text); }
static void handler(int number) { printf("signal %d\n", number); }
__attribute__((constructor)) static void before(void) { printf("constructor\n"); }
__attribute__((destructor)) static void after(void) { printf("destructor\n"); }

static void deep(int n)
{
    if (n == 0)
        exit(7);
    deep(n - 1);
}

int main(void)
{
    atexit(first);
    on_exit(with, "handled");
    atexit(second);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    deep(3);
    return 1;
}

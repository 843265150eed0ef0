// What is in buffers is not written out, and only handlers for this are called.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void late(void) { (void)!write(1, "quick\n", 6); }
static void never(void) { (void)!write(1, "never\n", 6); }
int main(void) {
    at_quick_exit(late);
    atexit(never);
    printf("not written");
    quick_exit(3);
}

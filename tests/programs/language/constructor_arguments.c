// Constructors are called as `main` is, with the arguments of the process; destructors get none.
//~ STDOUT: before 1
//~ STDOUT: after
#include <stdio.h>

__attribute__((constructor)) static void before(int count) { printf("before %d\n", count); }
__attribute__((destructor)) static void after(int unknown) { printf("after\n"); }

int main(void) { return 0; }

// `abort` ends the program with SIGABRT, as a shell reports it.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    printf("before\n");
    fflush(stdout);
    abort();
}
//~ EXIT: 134
//~ STDOUT: before

// `main` receives its arguments, and `argv` ends with a null pointer.
//~ ARGS: one two --three
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    printf("%d\n", argc);
    for (int i = 1; i < argc; i++) printf("%s %zu\n", argv[i], strlen(argv[i]));
    argv[1][0] = 'O';
    puts(argv[1]);
    return argv[argc] == NULL ? argc : 100;
}
//~ EXIT: 4
//~ STDOUT: 4
//~ STDOUT: one 3
//~ STDOUT: two 3
//~ STDOUT: --three 7
//~ STDOUT: One

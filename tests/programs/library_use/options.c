// Options of the command line.
//~ ARGS: -a -bvalue -c other -x rest
//~ STDOUT: a
//~ STDOUT: b value
//~ STDOUT: c other
//~ STDOUT: ? x
//~ STDOUT: 6 rest
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int option;
    opterr = 0;
    while ((option = getopt(argc, argv, "ab:c:")) != -1)
        switch (option) {
        case 'a':
            puts("a");
            break;
        case '?':
            printf("? %c\n", optopt);
            break;
        default:
            printf("%c %s\n", option, optarg);
        }
    printf("%d %s\n", optind, argv[optind]);
    return 0;
}

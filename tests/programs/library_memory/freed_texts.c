// A text that is printed, written or read as a number must be alive. AddressSanitizer reports each of them.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DEARLY: use after free
//~ UNSAFE -DEARLY -DPUTS: use after free
//~ UNSAFE -DEARLY -DWRITE: use after free
//~ UNSAFE -DEARLY -DNUMBER: use after free
//~ UNSAFE -DEARLY -DSCAN: use after free
//~ UNSAFE -DEARLY -DPRINT: use after free
//~ SAFE -DPRINT
//~ STDOUT: 12
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *text;
int number;

void *use(void *unused)
{
#if defined PUTS
    puts(text);
#elif defined WRITE
    number = write(1, text, 2);
#elif defined NUMBER
    number = atof(text) > 10;
#elif defined SCAN
    sscanf(text, "%d", &number);
#elif defined PRINT
    char copy[16];
    snprintf(copy, sizeof copy, "%s!", text);
    number = copy[0];
#else
    printf("%s\n", text);
#endif
    return 0;
}

int main(void)
{
    text = malloc(8);
    if (!text)
        return 1;
    strcpy(text, "12");
    pthread_t thread;
    pthread_create(&thread, 0, use, 0);
#ifdef EARLY
    free(text);
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    free(text);
#endif
    return 0;
}

// What is scanned is written, if there is input for it.
//~ PROPERTY: race,memsafety
//~ UNSAFE -DRACE: data race
//~ UNSAFE -DRACE -DLINE: data race
//~ UNSAFE -DRACE -DTEXT: data race
//~ SAFE -DTEXT
//~ UNSAFE -DSOURCE -DTEXT: data race
#include <pthread.h>
#include <stdio.h>

int number, other;
char line[32] = "12 13";

void *scan(void *unused)
{
#if defined LINE
    fgets(line, 32, stdin);
#elif defined TEXT
    sscanf(line, "%d", &number);
#else
    scanf("%d %d", &other, &number);
#endif
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, scan, 0);
#if defined SOURCE
    line[1] = '3';
#elif defined RACE && defined LINE
    line[20] = 1;
#elif defined RACE
    number = 1;
#else
    other = 1;
#endif
    pthread_join(thread, 0);
    return 0;
}

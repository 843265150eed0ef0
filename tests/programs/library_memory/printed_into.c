// Functions that print into memory write it, and no more than what they print.
//~ PROPERTY: race,memsafety
//~ SAFE
//~ UNSAFE -DRACE: data race
//~ UNSAFE -DRACE -DWHOLE: data race
//~ UNSAFE -DTWO: data race
//~ SAFE -DHALVES
#include <pthread.h>
#include <stdio.h>

char buffer[16];

void *print(void *unused)
{
#ifdef WHOLE
    sprintf(buffer, "%c%c", 'a', 'b');
#else
    snprintf(buffer, 8, "%s", "abcdefghijk");
#endif
    return 0;
}

void *print_too(void *unused)
{
#ifdef HALVES
    snprintf(buffer + 8, 8, "%s", "abcdefghijk");
#else
    snprintf(buffer + 4, 8, "%s", "abcdefghijk");
#endif
    return 0;
}

int main(void)
{
    pthread_t thread, other;
    pthread_create(&thread, 0, print, 0);
#if defined TWO || defined HALVES
    pthread_create(&other, 0, print_too, 0);
    pthread_join(other, 0);
#elif defined RACE
    buffer[2] = 'x';
#else
    buffer[9] = 'x';
#endif
    pthread_join(thread, 0);
    return buffer[0] == 0;
}

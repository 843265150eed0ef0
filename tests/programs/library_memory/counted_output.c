// The directive %n writes how much has been printed.
//~ PROPERTY: race,memsafety
//~ SAFE
//~ UNSAFE -DRACE: data race
//~ STDOUT: abc
#include <pthread.h>
#include <stdio.h>

int count, other;

void *print(void *unused)
{
    printf("abc%n\n", &count);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, print, 0);
#ifdef RACE
    count = 1;
#else
    other = 1;
#endif
    pthread_join(thread, 0);
    return 0;
}

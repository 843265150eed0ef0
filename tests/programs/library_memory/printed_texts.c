// Functions that print a text read it, up to its terminating zero. ThreadSanitizer reports the race of each of them.
//~ PROPERTY: race,memsafety
//~ SAFE
//~ SAFE -DBEHIND
//~ UNSAFE -DRACE: data race
//~ UNSAFE -DRACE -DFORMATTED: data race
//~ UNSAFE -DRACE -DSTREAM: data race
//~ UNSAFE -DRACE -DPRECISION: data race
//~ SAFE -DBEHIND -DPRECISION
//~ UNSAFE -DRACE -DITEMS: data race
//~ UNSAFE -DRACE -DBYTES: data race
//~ UNSAFE -DRACE -DERROR: data race
//~ STDOUT: abc
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

char text[8] = "abc";
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *show(void *unused)
{
    pthread_mutex_lock(&lock);
#if defined FORMATTED
    printf("<%d %s>\n", 1, text);
#elif defined STREAM
    fputs(text, stderr);
#elif defined PRECISION
    printf("%.2s\n", text);
#elif defined ITEMS
    fwrite(text, 1, 4, stdout);
#elif defined BYTES
    if (write(1, text, 3) != 3)
        return 0;
#elif defined ERROR
    perror(text);
#else
    puts(text);
#endif
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, show, 0);
#if defined RACE
    text[1] = 'x';
#elif defined BEHIND
    text[5] = 'x';
#else
    pthread_mutex_lock(&lock);
    text[1] = 'b';
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, 0);
    text[0] = 'y';
    return 0;
}

// Calls that share no memory need not be tried in both orders: one execution. (There were 6,080.)
//~ PROPERTY: race,memsafety,assert
//~ SAFE
//~ UNSAFE -DLONG: length
//~ STDOUT: abc
//~ STDOUT: abc
//~ STDOUT: abc
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

int length;

void *print(void *unused)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%d", 1234);
    snprintf(buffer, sizeof buffer, "%s", "abc");
    puts(buffer);
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, print, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
#ifdef LONG
    length = 7;
#endif
    assert(length < 4);
    return 0;
}

// The results of gmtime, localtime, asctime and ctime are in one place for all threads; those of their relatives that end in
// _r are where the caller says.
//~ SAFE
//~ UNSAFE -DBUG=1: data race
//~ UNSAFE -DBUG=2: data race
//~ UNSAFE -DBUG=3: use after free
//~ UNSAFE -DBUG=4: data race
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static time_t when = 1709164800;

static void *worker(void *argument) {
#if BUG == 1
    localtime(&when);
#elif BUG == 2
    asctime(argument);
#elif BUG == 4
    when = 5;
#else
    struct tm date;
    gmtime_r(&when, &date);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    struct tm date, *shared = calloc(1, sizeof *shared);
    char text[26];
    pthread_create(&thread, 0, worker, shared);
#if BUG == 1
    gmtime(&when);
#elif BUG == 2
    ctime(&when);
#elif BUG == 3
    free(shared);
    asctime_r(shared, text);
#elif BUG == 4
    gmtime_r(&when, &date);
#else
    assert(gmtime_r(&when, &date) == &date);
    assert(date.tm_hour >= 0 && date.tm_hour < 24 && date.tm_mon < 12);
    assert(ctime_r(&when, text) == text);
    struct tm *found = gmtime(&when);
    assert(found->tm_min < 60);
#endif
    pthread_join(thread, 0);
    free(shared);
    return 0;
}

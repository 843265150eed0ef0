// A pipe orders what comes before a write and after the read that returns it. Leno does not know pipes: it must not report the
// race that a schedule without that order would have (ThreadSanitizer reports none), nor deny the one that is there
// with -DLATE (which it reports).
//~ UNKNOWN staged: `pipe` is called, whose effects are not encoded
//~ UNKNOWN explore: calls a function that Leno does not know
//~ UNKNOWN staged -DLATE: `pipe` is called, whose effects are not encoded
//~ UNKNOWN explore -DLATE: calls a function that Leno does not know
//~ WARN: pipe
#include <pthread.h>
#include <unistd.h>

int ends[2], data;

void *sender(void *unused)
{
#ifndef LATE
    data = 1;
#endif
    write(ends[1], "x", 1);
#ifdef LATE
    data = 1;
#endif
    return 0;
}

int main(void)
{
    pthread_t thread;
    char letter;
    pipe(ends);
    pthread_create(&thread, 0, sender, 0);
    read(ends[0], &letter, 1);
    data = 2;
    pthread_join(thread, 0);
    return 0;
}

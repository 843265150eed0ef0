// Dates are those of the C library.
//~ STDOUT: Thu Feb 29 13:46:41 2024
//~ STDOUT: 2024-02-29 13:46:41 Thursday February 060 24 01 PM
//~ STDOUT: 124 1 29 4 59
//~ STDOUT: 1709214401 1709214401
//~ STDOUT: 0 60.0
//~ STDOUT: Wed Dec 31 23:59:59 1969
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <time.h>

int main(void) {
    time_t when = 1709214401, before = -1;
    struct tm date;
    char text[64];
    gmtime_r(&when, &date);
    fputs(asctime_r(&date, text), stdout);
    strftime(text, sizeof text, "%Y-%m-%d %T %A %B %j %y %I %p", &date);
    puts(text);
    printf("%d %d %d %d %d\n", date.tm_year, date.tm_mon, date.tm_mday, date.tm_wday, date.tm_yday);
    date.tm_sec += 120;
    date.tm_min -= 2;
    time_t again = timegm(&date);
    printf("%ld %ld\n", (long)when, (long)again);
    printf("%zu %.1f\n", strftime(text, 3, "%Y", &date), difftime(when + 60, when));
    fputs(asctime(gmtime(&before)), stdout);
    return 0;
}

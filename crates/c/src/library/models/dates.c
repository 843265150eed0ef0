// Dates and times where the library keeps the result: gmtime, localtime, asctime, ctime; and difftime, timespec_get,
// clock_getres.
//
// The results are in one place for all threads, and the next call overwrites them (C11 7.27.3p1).

int *gmtime_r(const long *time, int *date);
int *localtime_r(const long *time, int *date);
char *asctime_r(const int *date, char *text);
char *ctime_r(const long *time, char *text);
int clock_gettime(int clock, long *time);

static int shared_date[16];
static char shared_text[26];

int *gmtime(const long *time)
{
    return gmtime_r(time, shared_date);
}

int *localtime(const long *time)
{
    return localtime_r(time, shared_date);
}

char *asctime(const int *date)
{
    return asctime_r(date, shared_text);
}

char *ctime(const long *time)
{
    return ctime_r(time, shared_text);
}

double difftime(long later, long earlier)
{
    return (double)later - (double)earlier;
}

int timespec_get(long *time, int base)
{
    if (base != 1)
        return 0;
    clock_gettime(0, time);
    return base;
}

int clock_getres(int clock, long *resolution)
{
    if (resolution) {
        resolution[0] = 0;
        resolution[1] = 1;
    }
    return 0;
}

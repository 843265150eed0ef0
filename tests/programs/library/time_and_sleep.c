// Time passes; sleeping returns.
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    time_t now = time(NULL), again;
    time(&again);
    struct timespec a, b, nap = {0, 1000};
    clock_gettime(CLOCK_MONOTONIC, &a);
    nanosleep(&nap, NULL);
    usleep(10);
    sleep(0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    struct timeval tv;
    printf("%d %d\n", now <= again, gettimeofday(&tv, NULL));
    printf("%d\n", a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec <= b.tv_nsec));
    printf("%d\n", clock() >= 0);
    return 0;
}
//~ STDOUT: 1 0
//~ STDOUT: 1
//~ STDOUT: 1

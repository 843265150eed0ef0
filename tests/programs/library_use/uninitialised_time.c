// A time that was never written is used.
//~ NO-GCC: what it does is anything
#include <time.h>

int main(void) {
    struct timespec time;
    time.tv_nsec = 0;
    nanosleep(&time, 0); //~ VIOLATION: uninitialised
    return 0;
}

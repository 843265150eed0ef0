// By default a signal ends the process.
//~ SAFE
//~ EXIT: 143
//~ NO-GCC: gcc's program is ended by the signal itself
#include <assert.h>
#include <signal.h>
#include <unistd.h>

int main(void)
{
    kill(getpid(), SIGTERM);
    assert(0);
}

/* Runs a program again and again, each time in a child process: under a sanitizer forking is much cheaper than starting anew.
   The program is compiled with -Dmain=program_main. Arguments: how often, after how many milliseconds a run hangs, and how many runs may. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int program_main(void);

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The status of a child process, or -1 if it had to be killed. */
static int wait_for(pid_t child, long limit, const sigset_t *ended) {
    long end = milliseconds() + limit;
    struct timespec pause = {0, 1000000};
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (milliseconds() >= end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        sigtimedwait(ended, 0, &pause);
    }
    return status;
}

#undef main
int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    int runs = atoi(argv[1]), hangs_left = atoi(argv[3]);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    for (int run = 0; run < runs && hangs_left > 0; run++) {
        pid_t child = fork();
        if (child < 0)
            return 3;
        if (child == 0) {
            char seed[12];
            snprintf(seed, sizeof seed, "%d", run);
            setenv("SEED", seed, 1);
            exit(program_main());
        }
        int status = wait_for(child, atol(argv[2]), &ended);
        if (status == -1)
            hangs_left--;
        else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
            fprintf(stderr, "run %d: abort\n", run);
    }
    return 0;
}

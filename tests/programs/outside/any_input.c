// Arguments, input and the time may be anything. A proof holds for all of it; a violation that needs certain input is not claimed.
//~ SAFE
//~ UNKNOWN explore: the program depends on the time of day
//~ UNSAFE -DFORTYTWO: first != 42
//~ UNKNOWN staged -DFORTYTWO: depends on input
//~ UNKNOWN explore -DFORTYTWO: the program depends on the time of day
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static int balance, number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    balance++;
    pthread_mutex_unlock(&lock);
    printf("%s is done\n", (char *)arg);
    return 0;
}

int main(int argc, char **argv) {
    struct timeval day;
    struct timespec spec;
    char name[20], line[30];
    int first = 0, second = 0;
    if (argc > 1 && strcmp(argv[1], "rich") == 0)
        balance = 5;
    gettimeofday(&day, NULL);
    clock_gettime(CLOCK_MONOTONIC, &spec);
    srand(time(NULL));
    sprintf(name, "number %d", argc);
    int scanned = scanf("%d %d", &first, &number);
    assert(scanned <= 2 && (scanned >= 1 || first == 0));
    if (fgets(line, sizeof line, stdin) == NULL)
        fprintf(stderr, "%s: no line\n", argv[0]);
#ifdef FORTYTWO
    assert(first != 42);
#endif
    pthread_t thread;
    pthread_create(&thread, 0, worker, "the worker");
    pthread_join(thread, 0);
    fflush(stdout);
    assert(balance == 1);
    return 0;
}
//~ STDOUT: the worker is done

//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
static int fd, x;
static void *work(void *arg) {
    uint64_t one = 1;
#ifdef BUG
    write(fd, &one, sizeof one);
    x = 1;
#else
    x = 1;
    write(fd, &one, sizeof one);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    uint64_t value;
    fd = eventfd(0, 0);
    if (fd < 0) return 1;
    pthread_create(&t, 0, work, 0);
    read(fd, &value, sizeof value);
#ifdef BUG
    x = 2;
#else
    assert(x == 1);
#endif
    pthread_join(t, 0);
    return 0;
}

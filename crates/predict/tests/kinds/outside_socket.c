//~ HOLDS
// (With -DBUG there is a race; replay has no sockets, and does not confirm it.)
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
static int ends[2], x;
static void *work(void *arg) {
    char c = 1;
#ifdef BUG
    send(ends[1], &c, 1, 0);
    x = 1;
#else
    x = 1;
    send(ends[1], &c, 1, 0);
#endif
    return arg;
}
int main(void) {
    pthread_t t;
    char c;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    pthread_create(&t, 0, work, 0);
    recv(ends[0], &c, 1, 0);
#ifdef BUG
    x = 2;
#else
    assert(x == 1);
#endif
    pthread_join(t, 0);
    return 0;
}

// A thread with a stack of its own size.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int deep(int n) { volatile char block[4096]; memset((char *)block, n, sizeof block); return n == 0 ? block[0] : deep(n - 1) + block[1] * 0 + 1; }
static void *work(void *arg) { printf("%d\n", deep(10000)); return arg; }
int main(void) {
    pthread_attr_t a; pthread_t t;
    pthread_attr_init(&a); pthread_attr_setstacksize(&a, 256u << 20);
    pthread_create(&t, &a, work, 0); pthread_join(t, 0);
    return 0;
}

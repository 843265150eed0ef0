//~ Assertion in main.2.1
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>
_Thread_local int mine;
atomic_int arrivals;
int (*order)(int);
int add(int n) { return atomic_fetch_add(&arrivals, n); }
void *leaf(void *unused) {
    mine = order(1);
    printf("leaf %d\n", mine);
    assert(mine != 3);
    pthread_exit(0);
}
void *node(void *unused) {
    pthread_t t;
    order(1);
    pthread_create(&t, 0, leaf, 0);
    pthread_join(t, 0);
    return (void *)1;
}
int main(void) {
    pthread_t t, u;
    order = add;
    pthread_create(&t, 0, node, 0);
    pthread_create(&u, 0, node, 0);
    pthread_detach(t);
    void *result;
    pthread_join(u, &result);
    if (result) pthread_exit(0);
}

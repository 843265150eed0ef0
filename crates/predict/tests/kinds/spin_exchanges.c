// A lock of the program's own: attempts that change nothing are left out of the path.
//~ HOLDS
//~ PREDICTED -DBUG: data race
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int lock = 1;
static int shared;
static void *work(void *arg) {
    while (atomic_exchange(&lock, 1)) ;
    shared++;
    atomic_store(&lock, 0);
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    atomic_store(&lock, 0);
#ifdef BUG
    shared++;
#endif
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

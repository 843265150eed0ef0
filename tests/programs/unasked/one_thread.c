// Only under some schedules is there a null pointer before the race.
//~ PROPERTY: race
//~ SAFE
//~ UNKNOWN -DBUG staged: ends in what was not looked for: null dereference
//~ UNKNOWN -DBUG explore: ends in what was not looked for: null dereference
//~ PROPERTY: race,memsafety
//~ UNSAFE -DBUG: null dereference
#include <pthread.h>
#include <stdatomic.h>

static int x, y;
static _Atomic(int *) p;

static void *set(void *unused) {
    p = &x;
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
#ifdef BUG
    y = *p;
#endif
    pthread_join(t, 0);
    y = *p;
    return y;
}

// Two threads accelerate by any number that may be, one brakes: ranges of doubles, not single values.
//~ NO-GCC: it has inputs
//~ SAFE
//~ UNKNOWN explore: a nondeterministic value of more than 8 bits
//~ UNKNOWN explore -DBUG: a nondeterministic value of more than 8 bits
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <pthread.h>

extern double __VERIFIER_nondet_double(void);

static double speed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *accelerate(void *unused) {
    double by = __VERIFIER_nondet_double();
    if (!(by >= 0.0 && by <= 20.0))
        by = 0;
    pthread_mutex_lock(&lock);
    if (speed + by <= 130.0)
        speed += by;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *brake(void *unused) {
    pthread_mutex_lock(&lock);
    speed *= 0.5;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    speed = __VERIFIER_nondet_double();
    if (!(speed >= 0 && speed <= 100))
        return 0;
    pthread_create(&threads[0], 0, accelerate, 0);
    pthread_create(&threads[1], 0, accelerate, 0);
    pthread_create(&threads[2], 0, brake, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
#ifdef BUG
    assert(speed <= 85);
#else
    assert(speed >= 0 && speed <= 90);
#endif
    return 0;
}

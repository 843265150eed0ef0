// Locks that are tried.
pthread_mutex_t a, b;
pthread_spinlock_t s;
pthread_rwlock_t r;
int x;

static int attempt(pthread_mutex_t *l) { return pthread_mutex_trylock(l); }
static _Bool has(pthread_mutex_t *l) { return !pthread_mutex_trylock(l); }
static int both(void) {
    if (pthread_mutex_trylock(&a))
        return -1;
    if (pthread_mutex_trylock(&b)) {
        pthread_mutex_unlock(&a);
        return -1;
    }
    return 0;
}

void *worker(void *arg) {
    if (pthread_mutex_trylock(&a) == 0) {
        x = 1; //~ held: a
        pthread_mutex_unlock(&a);
    }
    x = 2; //~ held:
    if (!pthread_mutex_trylock(&a)) {
        x = 3; //~ held: a
        pthread_mutex_unlock(&a);
    } else
        x = 4; //~ held:
    int r0 = pthread_mutex_trylock(&a);
    if (r0)
        return 0;
    x = 5; //~ held: a
    pthread_mutex_unlock(&a);
    if (attempt(&a) == 0) {
        x = 6; //~ held: a
        pthread_mutex_unlock(&a);
    }
    if (has(&b)) {
        x = 7; //~ held: b
        pthread_mutex_unlock(&b);
    }
    if (both() < 0)
        return 0;
    x = 8; //~ held: a b
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    while (pthread_spin_trylock(&s))
        x = 9; //~ held:
    x = 10; //~ held: s
    pthread_spin_unlock(&s);
    if (pthread_rwlock_tryrdlock(&r) == 0) {
        x = 11; //~ held: r(shared)
        pthread_rwlock_unlock(&r);
    }
    if (pthread_rwlock_trywrlock(&r) == 0) {
        x = 12; //~ held: r
        pthread_rwlock_unlock(&r);
    }
    int error = pthread_mutex_trylock(&a);
    switch (error) {
    case 0:
        x = 13; //~ held: a
        pthread_mutex_unlock(&a);
        break;
    case 16:
        x = 14; //~ held:
        break;
    }
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return 0;
}

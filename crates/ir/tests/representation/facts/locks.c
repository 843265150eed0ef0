// Locks that are named.
pthread_mutex_t a, b;
pthread_spinlock_t s;
pthread_rwlock_t r;
int x;

void *worker(void *arg) {
    x = 1; //~ held:
    pthread_mutex_lock(&a);
    x = 2; //~ held: a
    pthread_mutex_lock(&b);
    x = 3; //~ held: a b
    pthread_mutex_unlock(&a);
    x = 4; //~ held: b
    if (x) { //~ held: b
        pthread_mutex_unlock(&b);
        return 0;
    }
    x = 5; //~ held: b
    pthread_mutex_unlock(&b);
    x = 6; //~ held:
    pthread_spin_lock(&s);
    x = 7; //~ held: s
    pthread_spin_unlock(&s);
    pthread_rwlock_rdlock(&r);
    x = 8; //~ held: r(shared)
    pthread_rwlock_unlock(&r);
    pthread_rwlock_wrlock(&r);
    x = 9; //~ held: r
    pthread_rwlock_unlock(&r);
    if (arg)
        pthread_rwlock_rdlock(&r);
    else
        pthread_rwlock_wrlock(&r);
    x = 10; //~ held: r(shared)
    pthread_rwlock_unlock(&r);
    if (arg)
        pthread_mutex_lock(&a);
    x = 11; //~ held:
    if (arg)
        pthread_mutex_unlock(&a);
    for (int i = 0; i < 3; i++) {
        x = 12; //~ held:
        pthread_mutex_lock(&a);
        x = 13; //~ held: a
        pthread_mutex_unlock(&a);
    }
    pthread_mutex_lock(&a);
    while (x) { //~ held: a
        x--; //~ held: a
        if (x == 7) { //~ held: a
            pthread_mutex_unlock(&a);
            x = 14; //~ held:
            pthread_mutex_lock(&a);
        }
    }
    pthread_mutex_unlock(&a);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&a);
    x = 15; //~ held: a
    pthread_mutex_unlock(&a);
    pthread_join(t, 0);
    return 0;
}

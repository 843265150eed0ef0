// What else writes the bytes of locks.
struct device {
    int count;
    pthread_mutex_t lock;
    int buffer[4];
    long words[2];
};
struct device cleared, destroyed, early, risky, spoilt, table[4];
pthread_mutex_t again;
int x;

static void prepare(struct device *d) {
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->lock, 0);
}

void *worker(void *arg) {
    int i = x;
    pthread_mutex_lock(&cleared.lock);
    cleared.count = 1; //~ held: cleared+8
    cleared.buffer[2] = 1; //~ held: cleared+8
    pthread_mutex_unlock(&cleared.lock);
    // It is destroyed only after this thread has ended.
    pthread_mutex_lock(&destroyed.lock);
    x = 1; //~ held: destroyed+8
    pthread_mutex_unlock(&destroyed.lock);
    // It has been destroyed before this thread was created.
    pthread_mutex_lock(&early.lock);
    x = 2; //~ held:
    pthread_mutex_unlock(&early.lock);
    // An element out of the bounds of the array may be in the lock.
    pthread_mutex_lock(&risky.lock);
    risky.buffer[i] = 3; //~ held: risky+8
    x = 3; //~ held:
    pthread_mutex_unlock(&risky.lock);
    // Not so with the fields of an element, whatever its index.
    pthread_mutex_lock(&table[2].lock);
    table[i].count = 4; //~ held: table+168
    pthread_mutex_unlock(&table[2].lock);
    // Another thread clears it meanwhile.
    pthread_mutex_lock(&spoilt.lock);
    x = 5; //~ held:
    pthread_mutex_unlock(&spoilt.lock);
    // And this one is initialised again.
    pthread_mutex_lock(&again);
    x = 6; //~ held:
    pthread_mutex_unlock(&again);
    return 0;
}

int main(void) {
    pthread_t t;
    prepare(&cleared);
    prepare(&destroyed);
    pthread_mutex_destroy(&early.lock);
    pthread_create(&t, 0, worker, 0);
    memset(&spoilt, 0, sizeof spoilt);
    pthread_mutex_init(&again, 0);
    pthread_join(t, 0);
    pthread_mutex_destroy(&destroyed.lock);
    memset(&cleared, 0, sizeof cleared);
    return 0;
}

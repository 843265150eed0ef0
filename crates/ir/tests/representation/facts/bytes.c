// Pointers that are changed byte by byte, copied, or stored as numbers.
pthread_mutex_t locks[3], others[3], *whole, *source, *changed, *copied, *number;
struct pair {
    int count;
    pthread_mutex_t *lock;
} pair;
int x;

void *worker(void *arg) {
    pthread_mutex_lock(whole);
    x = 1; //~ held: locks+40
    pthread_mutex_unlock(whole);
    pthread_mutex_lock(changed);
    x = 2; //~ held:
    pthread_mutex_unlock(changed);
    pthread_mutex_lock(copied);
    x = 3; //~ held:
    pthread_mutex_unlock(copied);
    pthread_mutex_lock(number);
    x = 4; //~ held:
    pthread_mutex_unlock(number);
    // The number beside it does not overlap the pointer.
    pthread_mutex_lock(pair.lock);
    x = 5; //~ held: locks+80
    pthread_mutex_unlock(pair.lock);
    return 0;
}

int main(void) {
    pthread_t t;
    whole = &locks[1];
    source = &others[1];
    changed = &others[0];
    *(char *)&changed += 40;
    memcpy(&copied, &source, sizeof copied);
    number = (pthread_mutex_t *)((unsigned long)&others[0] + 80);
    pair.lock = &locks[2];
    pair.count = 6;
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return 0;
}

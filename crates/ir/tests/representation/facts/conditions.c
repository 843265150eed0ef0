// Waits give the mutex up, and have it again afterwards.
pthread_mutex_t m, other;
pthread_cond_t c;
int ready, x;

static void wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex) { pthread_cond_wait(cond, mutex); }

void *worker(void *arg) {
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&m);
    while (!ready) //~ held: m other
        pthread_cond_wait(&c, &m);
    x = 1; //~ held: m other
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&other);
    pthread_mutex_lock(&m);
    while (!ready) //~ held: m
        wait_for(&c, &m);
    x = 2; //~ held: m
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&m);
    ready = 1; //~ held: m
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

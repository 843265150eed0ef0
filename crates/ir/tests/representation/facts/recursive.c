// Recursive mutexes, and functions that lock what their callers hold.
pthread_mutex_t rec, plain;
int x;

static void helper(void) {
    pthread_mutex_lock(&rec);
    x = 1; //~ held: rec
    pthread_mutex_unlock(&rec);
    x = 2; //~ held:
}

static void down(int n) {
    pthread_mutex_lock(&rec);
    x = n; //~ held: rec
    if (n > 0)
        down(n - 1);
    // Recursion without end is not counted.
    x = n; //~ held:
    pthread_mutex_unlock(&rec);
}

void *worker(void *arg) {
    pthread_mutex_lock(&rec);
    pthread_mutex_lock(&rec);
    x = 3; //~ held: rec
    pthread_mutex_unlock(&rec);
    x = 4; //~ held: rec
    helper();
    x = 5; //~ held: rec
    pthread_mutex_unlock(&rec);
    x = 6; //~ held:
    down(3);
    x = 7; //~ held:
    helper();
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_settype(&attribute, 1);
    pthread_mutex_init(&rec, &attribute);
    pthread_create(&t, 0, worker, 0);
    worker(0);
    return 0;
}

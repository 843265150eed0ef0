// Locks behind pointers, in structures and arrays, on the stack and on the heap.
struct device {
    int count;
    pthread_mutex_t lock;
    int buffer[4];
};
struct device one, many[3], *heap;
pthread_mutex_t *pointer, a, b;
int x;

static void take(pthread_mutex_t *l) { pthread_mutex_lock(l); }
static void give(pthread_mutex_t *l) { pthread_mutex_unlock(l); }
static void take_device(struct device *d) { take(&d->lock); }
static void give_device(struct device *d) { give(&d->lock); }
static void update(struct device *d) {
    x = 1; //~ held:
    pthread_mutex_lock(&d->lock);
    d->count++; //~ held:
    pthread_mutex_unlock(&d->lock);
}
static void under_lock(void) {
    x = 2; //~ held: a
}

void *worker(void *arg) {
    struct device *own = arg;
    pthread_mutex_lock(&own->lock);
    own->count++; //~ held: local+8
    own->buffer[1] = 2; //~ held: local+8
    pthread_mutex_unlock(&own->lock);
    pthread_mutex_lock(&one.lock);
    one.count++; //~ held: one+8
    pthread_mutex_unlock(&one.lock);
    pthread_mutex_lock(&many[1].lock);
    many[1].count++; //~ held: many+72
    pthread_mutex_lock(&many[2].lock);
    many[2].count++; //~ held: many+136 many+72
    pthread_mutex_unlock(&many[1].lock);
    x = 3; //~ held: many+136
    pthread_mutex_unlock(&many[2].lock);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&many[i].lock);
        many[i].count++; //~ held:
        pthread_mutex_unlock(&many[i].lock);
    }
    pthread_mutex_lock(pointer);
    x = 4; //~ held: b
    pthread_mutex_unlock(pointer);
    pthread_mutex_lock(&heap->lock);
    heap->count++; //~ held: heap+8
    pthread_mutex_unlock(&heap->lock);
    take(&a);
    x = 5; //~ held: a
    take(&one.lock);
    x = 6; //~ held: a one+8
    give(&a);
    x = 7; //~ held: one+8
    give(&one.lock);
    take_device(&one);
    x = 8; //~ held: one+8
    take_device(&many[0]);
    x = 9; //~ held: many+8 one+8
    give_device(&one);
    x = 10; //~ held: many+8
    give_device(&many[0]);
    update(&one);
    update(&many[1]);
    take(&a);
    under_lock();
    pthread_mutex_unlock(&a);
    return 0;
}

int main(void) {
    struct device local = {0};
    pthread_t t;
    pthread_mutex_init(&local.lock, 0);
    pthread_mutex_init(&one.lock, 0);
    heap = malloc(sizeof *heap);
    heap->count = 0;
    pthread_mutex_init(&heap->lock, 0);
    pointer = &b;
    pthread_create(&t, 0, worker, &local);
    pthread_mutex_lock(&local.lock);
    local.count++; //~ held: local+8
    pthread_mutex_unlock(&local.lock);
    pthread_mutex_lock(&a);
    under_lock();
    pthread_mutex_unlock(&a);
    pthread_join(t, 0);
    return 0;
}

//~ HOLDS
/* A map with two operations that are atomic each. What the second one finds out for itself, it may do. */
#include <pthread.h>
#include <unistd.h>
#define RECHECK
#define CELLS 8
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int keys[CELLS], values[CELLS];
static int contains(int key) {
    pthread_mutex_lock(&mutex);
    int found = keys[key % CELLS] == key;
    pthread_mutex_unlock(&mutex);
    return found;
}
static void put(int key, int value) {
    pthread_mutex_lock(&mutex);
#ifdef RECHECK
    if (keys[key % CELLS] != key)
#endif
    {
        keys[key % CELLS] = key;
        values[key % CELLS] = value;
    }
    pthread_mutex_unlock(&mutex);
}
static void *careful(void *unused) {
    if (!contains(5)) put(5, 1);
    return unused;
}
static void *bold(void *unused) {
    usleep(400000);
    put(5, 2);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, careful, 0);
    pthread_create(&other, 0, bold, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

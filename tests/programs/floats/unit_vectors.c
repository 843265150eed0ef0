// Vectors of floats, in structs, are made to have length 1; the longest one is found under a lock.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ PREDICTED -DBUG
#include <assert.h>
#include <math.h>
#include <pthread.h>

struct vector {
    float x, y, z;
};

static struct vector vectors[3] = {{1, 2, 2}, {0, 3, 4}, {6, 0, 8}};
static float longest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *normalise(void *argument) {
    struct vector *v = argument;
    float length = sqrtf(v->x * v->x + v->y * v->y + v->z * v->z);
    v->x /= length;
    v->y /= length;
    v->z /= length;
    pthread_mutex_lock(&lock);
    if (length > longest)
        longest = length;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, normalise, &vectors[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
#ifdef BUG
    assert(longest < 10);
#else
    assert(longest == 10);
#endif
    assert(fabsf(vectors[1].z - 0.8f) < 1e-6f);
    return 0;
}

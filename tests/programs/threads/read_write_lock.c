// Many readers or one writer.
//~ SEEDS: 20
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;

static void *writer(void *arg) {
    for (int i = 0; i < 5; i++) {
        pthread_rwlock_wrlock(&lock);
        a++;
        b++;
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}
static void *reader(void *arg) {
    for (int i = 0; i < 5; i++) {
        pthread_rwlock_rdlock(&lock);
        assert(a == b);
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}
static void *try_both(void *arg) {
    int r = pthread_rwlock_tryrdlock(&lock), w = pthread_rwlock_trywrlock(&lock);
    if (r == 0) pthread_rwlock_unlock(&lock);
    *(int *)arg = (r == 0) * 10 + (w == EBUSY);
    return NULL;
}
static int tried(void) {
    pthread_t t;
    int result;
    pthread_create(&t, NULL, try_both, &result);
    pthread_join(t, NULL);
    return result;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, i % 2 ? reader : writer, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    printf("%d %d\n", a, b);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);
    printf("%d ", tried());
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    printf("%d\n", tried());
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_t local;
    printf("%d %d\n", pthread_rwlock_init(&local, NULL), pthread_rwlock_destroy(&local));
    return 0;
}
//~ STDOUT: 10 10
//~ STDOUT: 11 1
//~ STDOUT: 0 0

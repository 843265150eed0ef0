//~ Assertion in main
#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int items, order, first;
void *take(void *number) {
    pthread_mutex_lock(&lock);
    while (!items) pthread_cond_wait(&changed, &lock);
    items--;
    if (!first) first = *(int *)number;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t t[2];
    static int numbers[2] = {1, 2};
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, take, &numbers[i]);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(first == 1);
}

// A product of matrices, a row by each thread, and its trace under a lock.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

#define N 3
static double left[N][N], right[N][N], product[N][N], trace;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *multiply(void *argument) {
    long row = (long)argument;
    for (int column = 0; column < N; column++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
            sum += left[row][k] * right[k][column];
        product[row][column] = sum;
    }
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    trace += product[row][row];
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            left[i][j] = i + 1;
            right[i][j] = 0.5 * j;
        }
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, multiply, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    assert(product[0][1] == 1.5 && product[2][2] == 9);
    assert(trace == 12);
    return 0;
}

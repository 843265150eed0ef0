/* What goes wrong depends on what is read: without its input the program does nothing. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int amount, balance;
static void *deposit(void *unused) {
    pthread_mutex_lock(&mutex);
    int old = balance;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    balance = old + amount;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    char line[64];
    pthread_t one, other;
    if (!fgets(line, sizeof line, stdin) || (amount = atoi(line)) != 21 || getchar() != 'x') return 0;
    pthread_create(&one, 0, deposit, 0);
    pthread_create(&other, 0, deposit, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(balance == 42);
    return 0;
}

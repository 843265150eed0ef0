//~ UNSAFE marked
/* A transfer that is expected to be atomic: the account may have been emptied between looking and taking. */
#include <pthread.h>
void leno_expect_atomic_begin(void);
void leno_expect_atomic_end(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int accounts[2] = {100, 100};
static int balance(int account) {
    pthread_mutex_lock(&mutex);
    int money = accounts[account];
    pthread_mutex_unlock(&mutex);
    return money;
}
static void add(int account, int money) {
    pthread_mutex_lock(&mutex);
    accounts[account] += money;
    pthread_mutex_unlock(&mutex);
}
static void transfer(int from, int to, int money) {
    leno_expect_atomic_begin();
    if (balance(from) >= money) {
        add(from, -money);
        add(to, money);
    }
    leno_expect_atomic_end();
}
static void *worker(void *argument) {
    if (argument) transfer(0, 1, 80);
    else transfer(1, 0, 80);
    return 0;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, &other);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}

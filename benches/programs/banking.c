// N tellers move money between accounts, each account with its own lock; at the end nothing may be lost. After the banking example of
// Farchi, Nir and Ur (IPDPS 2003). With -DBUG=1 one deposit reads the balance in one critical section and writes it in another.
// Size: -DN=…
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
#ifndef BUG
#define BUG 0
#endif
#define ACCOUNTS (N + 1)
#define ROUNDS 4
#define START 1000

int balance[ACCOUNTS];
pthread_mutex_t lock[ACCOUNTS];

static void withdraw(int account, int amount)
{
    pthread_mutex_lock(&lock[account]);
    balance[account] -= amount;
    pthread_mutex_unlock(&lock[account]);
}

static void deposit(int account, int amount, int in_two)
{
    pthread_mutex_lock(&lock[account]);
    int seen = balance[account];
    if (in_two) {
        pthread_mutex_unlock(&lock[account]);
        pthread_mutex_lock(&lock[account]);
    }
    balance[account] = seen + amount;
    pthread_mutex_unlock(&lock[account]);
}

static void *teller(void *argument)
{
    int number = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int amount = 10 * (number + 1) + round;
        withdraw(number, amount);
        deposit(number + 1, amount, BUG && number == 0 && round == 1);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[N];
    int total = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&lock[i], 0);
        balance[i] = START;
    }
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, teller, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < ACCOUNTS; i++)
        total += balance[i];
    assert(total == START * ACCOUNTS);
    return 0;
}

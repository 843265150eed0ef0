// N customers move money between four accounts, each with a lock; when all of them have said that they are done, an auditor adds
// up the accounts, without locks. Is there a data race? (No; with -DRACE the auditor does not wait for the last one.) Size: -DN=…
#include <pthread.h>

#ifndef N
#define N 4
#endif
#ifdef RACE
#define AWAITED (N - 1)
#else
#define AWAITED N
#endif
#define ACCOUNTS 4
#define TRANSFERS 3

int balance[ACCOUNTS] = {1000, 1000, 1000, 1000};
int is_done[N];
int total;
pthread_mutex_t locks[ACCOUNTS];
pthread_mutex_t done_lock;

static int fee(int amount)
{
    int fee = 0;
    for (int bit = 0; bit < 8; bit++) {
        if (amount >> bit & 1)
            fee = fee + bit;
        amount = amount * 3 + fee;
    }
    return fee & 7;
}

void *customer(void *arg)
{
    int id = (int)(long)arg;
    for (int k = 0; k < TRANSFERS; k++) {
        int from = (id + k) % ACCOUNTS, to = (id + k + 1) % ACCOUNTS;
        int low = from < to ? from : to, high = from < to ? to : from;
        pthread_mutex_lock(&locks[low]);
        pthread_mutex_lock(&locks[high]);
        int amount = balance[from] >> 3;
        int cost = fee(amount);
        if (cost < amount) {
            balance[from] = balance[from] - amount;
            balance[to] = balance[to] + amount - cost;
        }
        pthread_mutex_unlock(&locks[high]);
        pthread_mutex_unlock(&locks[low]);
    }
    pthread_mutex_lock(&done_lock);
    is_done[id] = 1;
    pthread_mutex_unlock(&done_lock);
    return 0;
}

void *auditor(void *arg)
{
    for (int i = 0; i < AWAITED; i++) {
        pthread_mutex_lock(&done_lock);
        int done = is_done[i];
        pthread_mutex_unlock(&done_lock);
        if (!done)
            return 0;
    }
    for (int i = 0; i < ACCOUNTS; i++)
        total = total + balance[i];
    return 0;
}

int main(void)
{
    pthread_t customers[N], one;
    for (long i = 0; i < N; i++)
        pthread_create(&customers[i], 0, customer, (void *)i);
    pthread_create(&one, 0, auditor, 0);
    for (int i = 0; i < N; i++)
        pthread_join(customers[i], 0);
    pthread_join(one, 0);
    return 0;
}

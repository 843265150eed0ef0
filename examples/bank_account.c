// A bank account with a lost update.
//
// Both tellers read the balance, add their deposit, and write the sum back. When one of them is interrupted between
// its read and its write, the other's deposit disappears. Most runs of the real program go well; the schedule that
// does not is rare, and Leno finds it:
//
//     leno run --runs 100 examples/bank_account.c
#include <assert.h>
#include <pthread.h>

static int balance = 100;

static void *deposit(void *amount) {
    int seen = balance;
    balance = seen + *(int *)amount; // what the other teller wrote in the meantime is gone
    return NULL;
}

int main(void) {
    int wages = 50, refund = 20;
    pthread_t first, second;
    pthread_create(&first, NULL, deposit, &wages);
    pthread_create(&second, NULL, deposit, &refund);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(balance == 170);
    return 0;
}

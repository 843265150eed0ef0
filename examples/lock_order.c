// Two locks taken in opposite orders.
//
// A transfer locks both accounts, its own source first. Two transfers in opposite directions can each hold one lock and
// wait for the other's for ever: a deadlock. No assertion fails and nothing crashes; the program just never ends.
// Locking in one global order (say, by address) repairs it.
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock); // the other transfer may hold this one, and wait for ours
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *alice_pays(void *unused) {
    transfer(&alice, &bob, 10);
    return unused;
}

static void *bob_pays(void *unused) {
    transfer(&bob, &alice, 25);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, alice_pays, NULL);
    pthread_create(&second, NULL, bob_pays, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(alice.balance + bob.balance == 200);
    return 0;
}

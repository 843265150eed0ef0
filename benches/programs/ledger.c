// N clerks enter ENTRIES entries each into a ledger, in different orders. Every entry goes through the same function: it is sealed
// with a checksum, classified, and added to the column that it belongs to, under a lock. The function is called everywhere
// with something else; what it does is always the same. Size: -DN=…, -DENTRIES=…; -DBITS=… makes the checksum longer.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 4
#endif
#ifndef ENTRIES
#define ENTRIES 8
#endif
#ifndef BITS
#define BITS 16
#endif

enum kind { INCOME, EXPENSE, TRANSFER, OTHER };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned column[4];
unsigned entries, seal, rate = 7;

static unsigned checksum(unsigned sum, unsigned word)
{
    for (int bit = 0; bit < BITS; bit++) {
        unsigned odd = (sum ^ word) & 1;
        sum >>= 1;
        word >>= 1;
        if (odd)
            sum ^= 0xA001;
    }
    return sum;
}

static enum kind classify(unsigned amount, unsigned from, unsigned to)
{
    if (from == to)
        return TRANSFER;
    if (amount == 0)
        return OTHER;
    return to == 0 ? INCOME : EXPENSE;
}

static unsigned enter(unsigned amount, unsigned from, unsigned to)
{
    unsigned tax = 0;
    enum kind kind = classify(amount, from, to);
    if (kind == INCOME) {
        pthread_mutex_lock(&lock);
        tax = amount / 8 + rate;
        pthread_mutex_unlock(&lock);
    }
    unsigned mine = checksum(checksum(0xFFFF, amount), from << 8 | to);
    pthread_mutex_lock(&lock);
    unsigned sum = column[kind] + amount;
    if (sum < amount)
        sum = ~0u;
    column[kind] = sum;
    if (tax)
        column[EXPENSE] += tax;
    seal = checksum(seal, mine);
    entries++;
    pthread_mutex_unlock(&lock);
    return tax;
}

void *clerk(void *argument)
{
    unsigned number = (unsigned)(unsigned long)argument, paid = 0;
    for (unsigned i = 0; i < ENTRIES; i++)
        paid += enter(number * 100 + paid, i % 3, (i + number) % 4);
    return (void *)(unsigned long)paid;
}

int main(void)
{
    pthread_t clerks[N];
    for (unsigned long i = 0; i < N; i++)
        pthread_create(&clerks[i], 0, clerk, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(clerks[i], 0);
    assert(entries == N * ENTRIES);
    return 0;
}

// The average, the least and the greatest of some numbers, by one thread each. Who looks too early sees none of it.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>

#define COUNT 7
static int numbers[COUNT] = {90, 81, 78, 95, 79, 72, 85};
static double average;
static int least, greatest;

static void *find_average(void *unused) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += numbers[i];
    average = sum / COUNT;
    return unused;
}

static void *find_least(void *unused) {
    int found = numbers[0];
    for (int i = 1; i < COUNT; i++)
        if (numbers[i] < found)
            found = numbers[i];
    least = found;
    return unused;
}

static void *find_greatest(void *unused) {
    int found = numbers[0];
    for (int i = 1; i < COUNT; i++)
        if (numbers[i] > found)
            found = numbers[i];
    greatest = found;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, find_average, 0);
    pthread_create(&threads[1], 0, find_least, 0);
    pthread_create(&threads[2], 0, find_greatest, 0);
#ifndef BUG
    pthread_join(threads[0], 0);
#endif
    pthread_join(threads[1], 0);
    pthread_join(threads[2], 0);
    assert(least <= average && average <= greatest);
    assert(average > 82.85 && average < 82.86);
    return 0;
}

// N threads insert four messages each into a hash table of 128 cells with compare-and-swap; only from twelve threads on do
// they collide. After Flanagan and Godefroid, POPL 2005. Size: -DN=…; -DENTRY=… asks whether two messages ever meet at that
// cell, with at most PROBES cells tried for each message; -DTHREAD=… asks it of that thread only.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 12
#endif
#define SIZE 128
#define MAX 4
#ifndef PROBES
#define PROBES 4
#endif

int table[SIZE];

void *worker(void *arg)
{
    int tid = (int)(long)arg;
    for (int m = 0; m < MAX;) {
        int w = (++m) * 11 + tid;
        int h = (w * 7) % SIZE;
#ifdef ENTRY
        for (int probe = 0; probe < PROBES; probe++) {
            if (__sync_bool_compare_and_swap(&table[h], 0, w))
                break;
#ifdef THREAD
            assert(h != ENTRY || tid != THREAD);
#else
            assert(h != ENTRY);
#endif
            h = (h + 1) % SIZE;
        }
#else
        while (!__sync_bool_compare_and_swap(&table[h], 0, w))
            h = (h + 1) % SIZE;
#endif
    }
    return 0;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

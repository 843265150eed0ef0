// N threads insert four messages each into a hash table of 128 cells with compare-and-swap; only from twelve threads on do
// they collide. After Flanagan and Godefroid, POPL 2005. Size: -DN=…
// With -DENTRY=e, the first thread must not collide with anybody at that cell: from twelve threads on it may at 26, and never at 77.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 12
#endif
#define SIZE 128
#define MAX 4

int table[SIZE];

void *worker(void *arg)
{
    int tid = (int)(long)arg;
    for (int m = 0; m < MAX;) {
        int w = (++m) * 11 + tid;
        int h = (w * 7) % SIZE;
        while (!__sync_bool_compare_and_swap(&table[h], 0, w)) {
#ifdef ENTRY
            assert(tid != 0 || h != ENTRY);
#endif
            h = (h + 1) % SIZE;
        }
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

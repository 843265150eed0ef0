// N threads each read an index and exchange the cell of an array that it names, while main raises the index and starts them:
// (2N - 1)!! executions. With -DMISSED (and N = 7) it asserts that one certain execution does not happen. Size: -DN=…
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

atomic_int array[N], index_;
int cell[N], before[N];

void *thread(void *arg)
{
    long id = (long)arg;
    int i = atomic_load(&index_);
    int old = atomic_exchange(&array[i], (int)id);
    cell[id - 1] = i;
    before[id - 1] = old;
    return 0;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        atomic_store(&index_, (int)i);
        pthread_create(&threads[i], 0, thread, (void *)(i + 1));
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
#ifdef MISSED
    assert(!(cell[0] == 2 && cell[1] == 2 && cell[2] == 2 && cell[3] == 6 && cell[4] == 5 && cell[5] == 5 && cell[6] == 6
             && before[0] == 3 && before[1] == 0 && before[2] == 2 && before[3] == 0 && before[4] == 0 && before[5] == 5
             && before[6] == 4));
#endif
    return 0;
}

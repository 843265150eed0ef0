// Threads 0 to N give an inode to a file and look for a free block for it, under a lock for each inode and each block. From
// N = 13 on two of them may want the same. After Flanagan and Godefroid, POPL 2005. Size: -DN=…
#include <pthread.h>

#ifndef N
#define N 14
#endif
#define INODES 32
#define BLOCKS 26

pthread_mutex_t locki[INODES], lockb[BLOCKS];
int inode[INODES], busy[BLOCKS];

void *worker(void *arg)
{
    int tid = (int)(long)arg;
    int i = tid % INODES;
    pthread_mutex_lock(&locki[i]);
    if (inode[i] == 0) {
        int b = (i * 2) % BLOCKS;
        for (;;) {
            pthread_mutex_lock(&lockb[b]);
            if (!busy[b]) {
                busy[b] = 1;
                inode[i] = b + 1;
                pthread_mutex_unlock(&lockb[b]);
                break;
            }
            pthread_mutex_unlock(&lockb[b]);
            b = (b + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&locki[i]);
    return 0;
}

int main(void)
{
    pthread_t threads[N + 1];
    for (long i = 0; i <= N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i <= N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

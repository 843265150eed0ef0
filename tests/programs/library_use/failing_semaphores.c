// Semaphores that fail say why.
//~ SAFE
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <semaphore.h>

int main(void) {
    sem_t semaphore;
    errno = 0;
    assert(sem_init(&semaphore, 0, 0x80000000u) == -1 && errno == EINVAL);
    errno = 0;
    assert(sem_init(&semaphore, 0, INT_MAX) == 0 && errno == 0);
    assert(sem_post(&semaphore) == -1 && errno == EOVERFLOW);
    int value;
    assert(sem_getvalue(&semaphore, &value) == 0 && value == INT_MAX);
    errno = 0;
    assert(sem_wait(&semaphore) == 0 && errno == 0);
#ifdef BUG
    assert(sem_post(&semaphore) == -1);
#else
    assert(sem_post(&semaphore) == 0 && errno == 0);
#endif
    return 0;
}

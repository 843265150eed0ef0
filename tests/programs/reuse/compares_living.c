// Objects are freed and allocated all the time, and compared: but only while they live. That is shown as well, so that
// the staged engine has a proof.
//~ SAFE
//~ UNKNOWN -DBUG staged: may be the same
//~ NO-GCC: what it does depends on the allocator
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *current;

static void *replaces(void *unused)
{
    (void)unused;
    int *mine = malloc(sizeof *mine);
    *mine = 1;
    pthread_mutex_lock(&lock);
    int *old = current;
#ifdef BUG
    free(old);
    int *another = malloc(sizeof *another);
    assert(another != old); //~ UNSAFE -DBUG: assertion failed
    free(another);
#else
    assert(mine != old);
    free(old);
#endif
    current = mine;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    current = malloc(sizeof *current);
    pthread_t first, second;
    pthread_create(&first, 0, replaces, 0);
    pthread_create(&second, 0, replaces, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    free(current);
    return 0;
}

// Plain accesses to the bytes of a mutex, any of them, while another thread locks it.
//~ PROPERTY: race
//~ UNSAFE -DCOPY: data race
//~ UNSAFE -DFILL: data race
//~ UNSAFE -DBYTE: data race
//~ SAFE
#include <pthread.h>
#include <string.h>

struct {
    pthread_mutex_t mutex;
    int data;
} shared = {PTHREAD_MUTEX_INITIALIZER, 0};
pthread_mutex_t copy;

void *user(void *unused)
{
    pthread_mutex_lock(&shared.mutex);
    pthread_mutex_unlock(&shared.mutex);
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, user, 0);
#ifdef COPY
    copy = shared.mutex;
#elif defined FILL
    memset(&shared.mutex, 0, sizeof shared.mutex);
#elif defined BYTE
    ((char *)&shared.mutex)[30] = 1;
#endif
    shared.data = 1;
    pthread_join(thread, 0);
    copy = shared.mutex;
    return 0;
}

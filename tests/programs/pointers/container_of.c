// From the address of a member to the struct around it, as kernels do.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: assertion violated
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct link {
    struct link *next;
};
struct device {
    int users;
    pthread_mutex_t lock;
    struct link link;
};
static struct device first = {0, PTHREAD_MUTEX_INITIALIZER, {0}}, second = {0, PTHREAD_MUTEX_INITIALIZER, {&first.link}};
#define device_of(place) ((struct device *)((char *)(place) - offsetof(struct device, link)))

static void *use(void *argument) {
    for (struct link *link = argument; link; link = link->next) {
        struct device *device = device_of(link);
#ifndef BUG
        pthread_mutex_lock(&device->lock);
#endif
        device->users++;
#ifndef BUG
        pthread_mutex_unlock(&device->lock);
#endif
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, use, &second.link);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(first.users == 2 && second.users == 2);
    return 0;
}

// The last user of an object frees it: every use has to happen before that.
//~ PROPERTY: race
//~ SAFE
//~ UNSAFE -DLEAVE=memory_order_relaxed: data race
//~ UNSAFE -DLEAVE=memory_order_release: data race
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef LEAVE
#define LEAVE memory_order_acq_rel
#endif

struct object {
    atomic_int users;
    int value;
};

static struct object *object;

static void leave(void)
{
    if (atomic_fetch_sub_explicit(&object->users, 1, LEAVE) == 1) {
        object->value = 0;
        free(object);
    }
}

static void *use(void *unused)
{
    int value = object->value;
    (void)value;
    leave();
    return unused;
}

int main(void)
{
    pthread_t thread;
    object = malloc(sizeof *object);
    if (!object)
        return 1;
    atomic_init(&object->users, 1);
    object->value = 7;
    atomic_fetch_add_explicit(&object->users, 1, memory_order_relaxed);
    pthread_create(&thread, 0, use, 0);
    use(0);
    pthread_join(thread, 0);
    return 0;
}

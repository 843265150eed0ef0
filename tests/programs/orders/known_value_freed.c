// What is read is known beforehand, but reading it is an access all the same: if nothing orders it before the free of its
// object, the two race. The references are given up by a counter.
//~ SAFE
//~ UNSAFE -DORDER=memory_order_relaxed: data race
//~ UNSAFE -DORDER=memory_order_acquire: data race
//~ UNSAFE -DORDER=memory_order_release: data race
//~ SAFE -DOUTSIDE
//~ UNSAFE -DOUTSIDE -DORDER=memory_order_relaxed: data race
//~ SAFE -DTABLE
//~ UNSAFE -DTABLE -DORDER=memory_order_relaxed: data race
//~ SAFE -DCOPY
//~ UNSAFE -DCOPY -DORDER=memory_order_relaxed: data race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef ORDER
#define ORDER memory_order_acq_rel
#endif

struct object {
    atomic_int references;
    int data[3];
};

#ifdef OUTSIDE
static atomic_int outside = 2;
#define REFERENCES(object) (&outside)
#else
#define REFERENCES(object) (&(object)->references)
#endif

static void put(struct object *object)
{
    if (atomic_fetch_sub_explicit(REFERENCES(object), 1, ORDER) == 1)
        free(object);
}

static void *user(void *argument)
{
    struct object *object = argument;
#ifdef TABLE
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += object->data[i];
    assert(sum == 15);
#elif defined COPY
    int copy[3];
    memcpy(copy, object->data, sizeof copy);
    assert(copy[2] == 5);
#else
    assert(object->data[1] == 5);
#endif
    put(object);
    return 0;
}

int main(void)
{
    pthread_t thread;
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->references, 2);
    for (int i = 0; i < 3; i++)
        object->data[i] = 5;
    pthread_create(&thread, 0, user, object);
    put(object);
    pthread_join(thread, 0);
    return 0;
}

// An attribute object must have been initialised, and must not have been destroyed.
//~ NO-REPLAY: glibc takes whatever is there
//~ SAFE -DKIND=1
//~ SAFE -DKIND=2
//~ UNSAFE -DKIND=1 -DUNMADE: invalid argument
//~ UNKNOWN -DKIND=1 -DUNMADE staged: does not confirm
//~ UNSAFE -DKIND=1 -DDESTROYED: invalid argument
//~ UNSAFE -DKIND=2 -DUNMADE: invalid
//~ UNKNOWN -DKIND=2 -DUNMADE staged: does not confirm
//~ UNSAFE -DKIND=2 -DDESTROYED: invalid argument
//~ SAFE -DKIND=3
//~ UNSAFE -DKIND=3 -DDESTROYED: invalid argument
//~ SAFE -DKIND=4
//~ UNSAFE -DKIND=4 -DUNMADE: invalid argument
//~ UNKNOWN -DKIND=4 -DUNMADE staged: does not confirm
#include <pthread.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
#if KIND == 1
    pthread_mutexattr_t attributes;
#ifndef UNMADE
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
#endif
#ifdef DESTROYED
    pthread_mutexattr_destroy(&attributes);
#endif
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#elif KIND == 2
    pthread_attr_t attributes;
    pthread_t thread;
#ifndef UNMADE
    pthread_attr_init(&attributes);
#endif
#ifdef DESTROYED
    pthread_attr_destroy(&attributes);
#endif
    pthread_create(&thread, &attributes, nothing, 0);
    pthread_join(thread, 0);
#elif KIND == 3
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    pthread_condattr_init(&attributes);
    pthread_condattr_destroy(&attributes);
#ifndef DESTROYED
    pthread_condattr_init(&attributes);
#endif
    pthread_cond_init(&condition, &attributes);
    pthread_cond_signal(&condition);
#else
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t lock;
#ifndef UNMADE
    pthread_rwlockattr_init(&attributes);
#endif
    pthread_rwlock_init(&lock, &attributes);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
#endif
    return 0;
}

// A step on a lock, a semaphore or a condition variable is an access to it: if nothing orders it before the free of its memory, or
// before another thread makes or destroys it, the two race.
//~ NO-REPLAY: a step on a lock is not kept as an access of the past there
//~ SAFE -DKIND=1
//~ UNSAFE -DKIND=1 -DRELAXED: data race
//~ SAFE -DKIND=2
//~ UNSAFE -DKIND=2 -DRELAXED: data race
//~ SAFE -DKIND=3
//~ UNSAFE -DKIND=3 -DRELAXED: data race
//~ SAFE -DKIND=4
//~ UNSAFE -DKIND=4 -DRELAXED: data race
//~ SAFE -DKIND=5
//~ UNSAFE -DKIND=5 -DRELAXED: data race
//~ SAFE -DKIND=1 -DDESTROY
//~ UNSAFE -DKIND=1 -DDESTROY -DRELAXED: data race
//~ SAFE -DKIND=1 -DATTEMPT
//~ UNSAFE -DKIND=1 -DATTEMPT -DRELAXED: data race
//~ SAFE -DKIND=1 -DREFERENCES
//~ UNSAFE -DKIND=1 -DREFERENCES -DRELAXED: data race
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RELAXED
#define STORE memory_order_relaxed
#else
#define STORE memory_order_release
#endif

#if KIND == 1
static pthread_mutex_t *object;
#define INIT pthread_mutex_init(object, 0)
#ifdef ATTEMPT
#define USE if (!pthread_mutex_trylock(object)) pthread_mutex_unlock(object)
#else
#define USE pthread_mutex_lock(object), pthread_mutex_unlock(object)
#endif
#elif KIND == 2
static sem_t *object;
#define INIT sem_init(object, 0, 0)
#define USE sem_post(object)
#elif KIND == 3
static pthread_cond_t *object;
#define INIT pthread_cond_init(object, 0)
#define USE pthread_cond_signal(object)
#elif KIND == 4
static pthread_spinlock_t *object;
#define INIT pthread_spin_init(object, 0)
#define USE pthread_spin_lock(object), pthread_spin_unlock(object)
#else
static pthread_once_t *object;
#define INIT *object = PTHREAD_ONCE_INIT
#define USE pthread_once(object, nothing)
static void nothing(void)
{
}
#endif

static atomic_int is_done;
static atomic_int references = 2;

#ifdef REFERENCES
static void give_up(void)
{
    USE;
    if (atomic_fetch_sub_explicit(&references, 1, STORE == memory_order_release ? memory_order_acq_rel : STORE) == 1)
        free(object);
}
#endif

static void *use(void *unused)
{
#ifdef REFERENCES
    give_up();
#else
    USE;
    atomic_store_explicit(&is_done, 1, STORE);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    object = malloc(sizeof *object);
    INIT;
    pthread_create(&thread, 0, use, 0);
#ifdef REFERENCES
    give_up();
#else
    if (atomic_load_explicit(&is_done, memory_order_acquire)) {
#ifdef DESTROY
        pthread_mutex_destroy(object);
#else
        free(object);
#endif
    }
#endif
    pthread_join(thread, 0);
    return 0;
}

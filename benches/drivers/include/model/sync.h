/* Locks, atomic bits, timers and time. A lock excludes all other threads; interrupts are threads like others. A timer's function
   may run at any time, also where nobody has set it: the script starts it as one more thread. */
#ifndef MODEL_SYNC_H
#define MODEL_SYNC_H
#include <model/base.h>

extern int pthread_spin_init(volatile int *, int);
extern int pthread_spin_lock(volatile int *);
extern int pthread_spin_trylock(volatile int *);
extern int pthread_spin_unlock(volatile int *);

typedef struct { volatile int word; } spinlock_t;
typedef spinlock_t raw_spinlock_t;
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }
#define spin_lock_init(lock) ((void)pthread_spin_init(&(lock)->word, 0))
#define spin_lock(lock) ((void)pthread_spin_lock(&(lock)->word))
#define spin_unlock(lock) ((void)pthread_spin_unlock(&(lock)->word))
#define spin_trylock(lock) (!pthread_spin_trylock(&(lock)->word))
#define spin_lock_irq(lock) spin_lock(lock)
#define spin_unlock_irq(lock) spin_unlock(lock)
#define spin_lock_bh(lock) spin_lock(lock)
#define spin_unlock_bh(lock) spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) do { (flags) = __VERIFIER_nondet_ulong(); spin_lock(lock); } while (0)
#define spin_unlock_irqrestore(lock, flags) do { (void)(flags); spin_unlock(lock); } while (0)

struct mutex { volatile int word; };
#define DEFINE_MUTEX(name) struct mutex name = { 0 }
#define mutex_init(lock) ((void)pthread_spin_init(&(lock)->word, 0))
#define mutex_lock(lock) ((void)pthread_spin_lock(&(lock)->word))
#define mutex_unlock(lock) ((void)pthread_spin_unlock(&(lock)->word))
#define mutex_trylock(lock) (!pthread_spin_trylock(&(lock)->word))

/* Bits of an array of words; the number of the bit is a constant. */
#define MODEL_WORD(nr, address) ((unsigned long *)(address) + (nr) / BITS_PER_LONG)
#define MODEL_MASK(nr) (1UL << (nr) % BITS_PER_LONG)
#define set_bit(nr, address) ((void)__atomic_fetch_or(MODEL_WORD(nr, address), MODEL_MASK(nr), __ATOMIC_SEQ_CST))
#define clear_bit(nr, address) ((void)__atomic_fetch_and(MODEL_WORD(nr, address), ~MODEL_MASK(nr), __ATOMIC_SEQ_CST))
#define test_and_set_bit(nr, address) \
    ((__atomic_fetch_or(MODEL_WORD(nr, address), MODEL_MASK(nr), __ATOMIC_SEQ_CST) & MODEL_MASK(nr)) != 0)
#define test_and_clear_bit(nr, address) \
    ((__atomic_fetch_and(MODEL_WORD(nr, address), ~MODEL_MASK(nr), __ATOMIC_SEQ_CST) & MODEL_MASK(nr)) != 0)
#define test_bit(nr, address) \
    ((__atomic_load_n(MODEL_WORD(nr, address), __ATOMIC_SEQ_CST) & MODEL_MASK(nr)) != 0)

typedef struct { int counter; } atomic_t;
#define ATOMIC_INIT(value) { (value) }
#define atomic_read(v) __atomic_load_n(&(v)->counter, __ATOMIC_SEQ_CST)
#define atomic_set(v, value) __atomic_store_n(&(v)->counter, (value), __ATOMIC_SEQ_CST)
#define atomic_inc(v) ((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_dec(v) ((void)__atomic_fetch_sub(&(v)->counter, 1, __ATOMIC_SEQ_CST))
#define atomic_inc_return(v) __atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_dec_and_test(v) (__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST) == 0)
#define atomic_cmpxchg(v, old, new) \
    ({ int model_old = (old); \
       (void)__atomic_compare_exchange_n(&(v)->counter, &model_old, (new), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
       model_old; })

#define HZ 250
#define jiffies __VERIFIER_nondet_ulong()
#define time_after(a, b) ((long)((unsigned long)(b) - (unsigned long)(a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) (!time_before(a, b))
#define time_before_eq(a, b) (!time_after(a, b))
#define msecs_to_jiffies(ms) ((unsigned long)(ms) * HZ / 1000)
#define udelay(n) ((void)(n))
#define mdelay(n) ((void)(n))
#define msleep(n) ((void)(n))
#define cond_resched() ((void)0)

struct timer_list { void (*function)(struct timer_list *); unsigned long expires; };
#define DEFINE_TIMER(name, callback) struct timer_list name = { .function = (callback) }
#define timer_setup(timer, callback, flags) ((timer)->function = (callback))
#define mod_timer(timer, expires) ((void)(timer), (void)(expires), __VERIFIER_nondet_int())
#define add_timer(timer) ((void)(timer))
#define del_timer(timer) ((void)(timer), __VERIFIER_nondet_int())
#define del_timer_sync(timer) del_timer(timer)
#define timer_pending(timer) ((void)(timer), __VERIFIER_nondet_int())

#endif
